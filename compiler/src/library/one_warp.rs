// What a block of one warp does together.

fn block_sum<T>(value: T) -> T {
    warp_sum(value)
}

fn block_max<T>(value: T) -> T {
    warp_max(value)
}

fn block_min<T>(value: T) -> T {
    warp_min(value)
}

fn block_scan_inclusive<T>(value: T) -> T {
    0u8 as T + warp_scan_inclusive(value)
}

fn block_scan_exclusive<T>(value: T) -> T {
    0u8 as T + warp_scan_exclusive(value)
}
