// Reductions of a warp in a block of whole warps: a butterfly, after which every lane has the result.

fn warp_sum<T>(value: T) -> T {
    let sum = value;
    let sum = sum + shuffle_xor(sum, 16);
    let sum = sum + shuffle_xor(sum, 8);
    let sum = sum + shuffle_xor(sum, 4);
    let sum = sum + shuffle_xor(sum, 2);
    sum + shuffle_xor(sum, 1)
}

fn warp_max<T>(value: T) -> T {
    let most = value;
    let most = most.max(shuffle_xor(most, 16));
    let most = most.max(shuffle_xor(most, 8));
    let most = most.max(shuffle_xor(most, 4));
    let most = most.max(shuffle_xor(most, 2));
    most.max(shuffle_xor(most, 1))
}

fn warp_min<T>(value: T) -> T {
    let least = value;
    let least = least.min(shuffle_xor(least, 16));
    let least = least.min(shuffle_xor(least, 8));
    let least = least.min(shuffle_xor(least, 4));
    let least = least.min(shuffle_xor(least, 2));
    least.min(shuffle_xor(least, 1))
}
