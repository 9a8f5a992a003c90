// Reductions of a warp in a block whose last warp is shorter: a tree to lane 0 of the lanes that exist, then a broadcast.

fn lanes_here() -> usize {
    if warp() + 1 < WARPS { 32 } else { THREADS - 32 * (WARPS - 1) }
}

fn warp_sum<T>(value: T) -> T {
    let lanes = lanes_here();
    let mut sum = value;
    for step in 0..5 {
        let distance = 16 >> step;
        let other = shuffle_down(sum, distance);
        if lane() + distance < lanes {
            sum = sum + other;
        }
    }
    shuffle(sum, 0)
}

fn warp_max<T>(value: T) -> T {
    // The own value, where there is no other, changes nothing.
    let mut most = value;
    for step in 0..5 {
        most = most.max(shuffle_down(most, 16 >> step));
    }
    shuffle(most, 0)
}

fn warp_min<T>(value: T) -> T {
    let mut least = value;
    for step in 0..5 {
        least = least.min(shuffle_down(least, 16 >> step));
    }
    shuffle(least, 0)
}
