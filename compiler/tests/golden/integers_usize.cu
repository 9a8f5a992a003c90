// integers_usize: blocks of 32 x 1 x 1 = 32 threads

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned long long index_t;

__device__ __forceinline__ u64 load_global_u64(const u64* pointer, bool active) {
    u64 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.u64 %0, [%1]; }"
                 : "+l"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ void store_global_u64(u64* pointer, u64 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.u64 [%0], %1; }"
                 :: "l"(pointer), "l"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ index_t wrapping_shl_usize(index_t a, u32 amount) {
    return (index_t)((u64)a << (amount & 63));
}

__device__ __forceinline__ index_t wrapping_shr_usize(index_t a, u32 amount) {
    return (index_t)((u64)a >> (amount & 63));
}

__device__ __forceinline__ index_t min_usize(index_t a, index_t b) {
    return a < b ? a : b;
}

__device__ __forceinline__ index_t max_usize(index_t a, index_t b) {
    return a > b ? a : b;
}

__device__ __forceinline__ index_t div_ceil_usize(index_t a, index_t b) {
    return b == 0 ? (index_t)0 : (index_t)(a / b + (a % b != 0));
}

extern "C" __global__ void __launch_bounds__(32) integers_usize(
    const u64* __restrict__ left, index_t left_extent0,
    const u64* __restrict__ right, index_t right_extent0,
    u64* __restrict__ output, index_t output_rows, index_t output_cols, index_t output_pitch) {
    const index_t thread_x = threadIdx.x;
    const index_t block_x = blockIdx.x;
    const index_t i = block_x * 32 + thread_x;
    if (i < left_extent0) {
        const index_t x = load_global_u64(&left[i], true);
        const index_t y = load_global_u64(&right[i], true);
        store_global_u64(&output[0 * output_pitch + i], x + y, true);
        store_global_u64(&output[1 * output_pitch + i], x - y, true);
        store_global_u64(&output[2 * output_pitch + i], x * y, true);
        store_global_u64(&output[3 * output_pitch + i], x & y, true);
        store_global_u64(&output[4 * output_pitch + i], x | y, true);
        store_global_u64(&output[5 * output_pitch + i], x ^ y, true);
        store_global_u64(&output[6 * output_pitch + i], wrapping_shl_usize(x, y), true);
        store_global_u64(&output[7 * output_pitch + i], wrapping_shr_usize(x, y), true);
        store_global_u64(&output[8 * output_pitch + i], min_usize(x, y), true);
        store_global_u64(&output[9 * output_pitch + i], max_usize(x, y), true);
        store_global_u64(&output[10 * output_pitch + i], x << 0, true);
        store_global_u64(&output[11 * output_pitch + i], x >> 0, true);
        store_global_u64(&output[12 * output_pitch + i], x << 1, true);
        store_global_u64(&output[13 * output_pitch + i], x >> 1, true);
        store_global_u64(&output[14 * output_pitch + i], wrapping_shl_usize(x, 63), true);
        store_global_u64(&output[15 * output_pitch + i], wrapping_shr_usize(x, 63), true);
        store_global_u64(&output[16 * output_pitch + i], x / 1, true);
        store_global_u64(&output[17 * output_pitch + i], x % 1, true);
        store_global_u64(&output[18 * output_pitch + i], x / 3, true);
        store_global_u64(&output[19 * output_pitch + i], x % 3, true);
        store_global_u64(&output[20 * output_pitch + i], x / 16, true);
        store_global_u64(&output[21 * output_pitch + i], x % 16, true);
        store_global_u64(&output[22 * output_pitch + i], ~x, true);
        store_global_u64(&output[23 * output_pitch + i], x + y < x ? (index_t)0 : 18446744073709551615ull, true);
        store_global_u64(&output[24 * output_pitch + i], (~(x + y) - 18446744073709551615ull) * (~(x + y) - 18446744073709551615ull), true);
        store_global_u64(&output[25 * output_pitch + i], div_ceil_usize(x, 3), true);
        if (y != 0) {
            store_global_u64(&output[40 * output_pitch + i], x / y, true);
            store_global_u64(&output[41 * output_pitch + i], x % y, true);
            store_global_u64(&output[42 * output_pitch + i], div_ceil_usize(x, y), true);
        }
    }
}
