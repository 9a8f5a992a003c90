// Scans of a warp, in steps that double the reach.

fn warp_scan_inclusive<T>(value: T) -> T {
    let mut sum = value;
    for step in 0..5 {
        let distance = 1 << step;
        let below = shuffle_up(sum, distance);
        if lane() >= distance {
            sum = below + sum;
        }
    }
    sum
}

fn warp_scan_exclusive<T>(value: T) -> T {
    let below = shuffle_up(warp_scan_inclusive(value), 1);
    if lane() == 0 { 0u8 as T } else { below }
}
