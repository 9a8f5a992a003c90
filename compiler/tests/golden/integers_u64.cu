// integers_u64: blocks of 32 x 1 x 1 = 32 threads

typedef unsigned int u32;
typedef unsigned long long u64;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

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

__device__ __forceinline__ u64 wrapping_shl_u64(u64 a, u32 amount) {
    return (u64)((u64)a << (amount & 63));
}

__device__ __forceinline__ u64 wrapping_shr_u64(u64 a, u32 amount) {
    return (u64)(a >> (amount & 63));
}

__device__ __forceinline__ u64 min_u64(u64 a, u64 b) {
    return a < b ? a : b;
}

__device__ __forceinline__ u64 max_u64(u64 a, u64 b) {
    return a > b ? a : b;
}

__device__ __forceinline__ u64 div_ceil_u64(u64 a, u64 b) {
    return b == 0 ? (u64)0 : (u64)(a / b + (a % b != 0));
}

__device__ __forceinline__ u64 wrapping_div_u64(u64 a, u64 b) {
    return b == 0 ? (u64)0 : (u64)(a / b);
}

__device__ __forceinline__ u64 wrapping_rem_u64(u64 a, u64 b) {
    return b == 0 ? (u64)0 : (u64)(a % b);
}

extern "C" __global__ void __launch_bounds__(32) integers_u64(
    const u64* __restrict__ left, index_t left_extent0,
    const u64* __restrict__ right, index_t right_extent0,
    u64* __restrict__ output, index_t output_rows, index_t output_cols, index_t output_pitch) {
    const index_t thread_x = threadIdx.x;
    const index_t block_x = blockIdx.x;
    const index_t i = block_x * 32 + thread_x;
    const bool active = i < left_extent0;
    const u64 x = load_global_u64(&left[i], active);
    const u64 y = load_global_u64(&right[i], active);
    store_global_u64(&output[0 * output_pitch + i], x + y, active);
    store_global_u64(&output[1 * output_pitch + i], x - y, active);
    store_global_u64(&output[2 * output_pitch + i], x * y, active);
    store_global_u64(&output[3 * output_pitch + i], x & y, active);
    store_global_u64(&output[4 * output_pitch + i], x | y, active);
    store_global_u64(&output[5 * output_pitch + i], x ^ y, active);
    store_global_u64(&output[6 * output_pitch + i], wrapping_shl_u64(x, y), active);
    store_global_u64(&output[7 * output_pitch + i], wrapping_shr_u64(x, y), active);
    store_global_u64(&output[8 * output_pitch + i], min_u64(x, y), active);
    store_global_u64(&output[9 * output_pitch + i], max_u64(x, y), active);
    store_global_u64(&output[10 * output_pitch + i], x << 0, active);
    store_global_u64(&output[11 * output_pitch + i], x >> 0, active);
    store_global_u64(&output[12 * output_pitch + i], x << 1, active);
    store_global_u64(&output[13 * output_pitch + i], x >> 1, active);
    store_global_u64(&output[14 * output_pitch + i], x << 63, active);
    store_global_u64(&output[15 * output_pitch + i], x >> 63, active);
    store_global_u64(&output[16 * output_pitch + i], x / 1ull, active);
    store_global_u64(&output[17 * output_pitch + i], x % 1ull, active);
    store_global_u64(&output[18 * output_pitch + i], x / 3ull, active);
    store_global_u64(&output[19 * output_pitch + i], x % 3ull, active);
    store_global_u64(&output[20 * output_pitch + i], x / 16ull, active);
    store_global_u64(&output[21 * output_pitch + i], x % 16ull, active);
    store_global_u64(&output[22 * output_pitch + i], ~x, active);
    store_global_u64(&output[23 * output_pitch + i], x + y < x ? 0ull : 18446744073709551615ull, active);
    store_global_u64(&output[24 * output_pitch + i], (~(x + y) - 18446744073709551615ull) * (~(x + y) - 18446744073709551615ull), active);
    store_global_u64(&output[25 * output_pitch + i], div_ceil_u64(x, 3ull), active);
    const bool active_1 = active && y != 0ull;
    store_global_u64(&output[40 * output_pitch + i], wrapping_div_u64(x, y), active_1);
    store_global_u64(&output[41 * output_pitch + i], wrapping_rem_u64(x, y), active_1);
    store_global_u64(&output[42 * output_pitch + i], div_ceil_u64(x, y), active_1);
}
