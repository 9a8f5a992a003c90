// What a block of several warps does together: each warp alone, then the results of the warps in their order. The first
// barrier lets all see these, the second keeps a next round from overwriting them.

fn block_sum<T>(value: T) -> T {
    let mut of_warps = Shared::<[T; WARPS]>::new();
    let sum = warp_sum(value);
    if lane() == 0 {
        of_warps[warp()] = sum;
    }
    sync_threads();
    let mut total = of_warps[0];
    for i in 1..WARPS {
        total = total + of_warps[i];
    }
    sync_threads();
    total
}

fn block_max<T>(value: T) -> T {
    let mut of_warps = Shared::<[T; WARPS]>::new();
    let most = warp_max(value);
    if lane() == 0 {
        of_warps[warp()] = most;
    }
    sync_threads();
    let mut result = of_warps[0];
    for i in 1..WARPS {
        result = result.max(of_warps[i]);
    }
    sync_threads();
    result
}

fn block_min<T>(value: T) -> T {
    let mut of_warps = Shared::<[T; WARPS]>::new();
    let least = warp_min(value);
    if lane() == 0 {
        of_warps[warp()] = least;
    }
    sync_threads();
    let mut result = of_warps[0];
    for i in 1..WARPS {
        result = result.min(of_warps[i]);
    }
    sync_threads();
    result
}

// The sum of the warps before this one; `sum` is the warp's inclusive scan.
fn before_this_warp<T>(sum: T) -> T {
    let mut of_warps = Shared::<[T; WARPS]>::new();
    if lane() == 31 {
        of_warps[warp()] = sum;
    }
    sync_threads();
    let mut before = 0u8 as T;
    for i in 0..WARPS - 1 {
        let other = of_warps[i];
        if i < warp() {
            before = before + other;
        }
    }
    sync_threads();
    before
}

fn block_scan_inclusive<T>(value: T) -> T {
    let sum = warp_scan_inclusive(value);
    before_this_warp(sum) + sum
}

fn block_scan_exclusive<T>(value: T) -> T {
    let sum = warp_scan_inclusive(value);
    let below = shuffle_up(sum, 1);
    let below = if lane() == 0 { 0u8 as T } else { below };
    before_this_warp(sum) + below
}
