// integers_i32: blocks of 32 x 1 x 1 = 32 threads

typedef int i32;
typedef unsigned int u32;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

__device__ __forceinline__ i32 load_global_i32(const i32* pointer, bool active) {
    i32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.s32 %0, [%1]; }"
                 : "+r"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ void store_global_i32(i32* pointer, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.s32 [%0], %1; }"
                 :: "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i32 wrapping_add_i32(i32 a, i32 b) {
    return (i32)((u32)a + (u32)b);
}

__device__ __forceinline__ i32 wrapping_sub_i32(i32 a, i32 b) {
    return (i32)((u32)a - (u32)b);
}

__device__ __forceinline__ i32 wrapping_mul_i32(i32 a, i32 b) {
    return (i32)((u32)a * (u32)b);
}

__device__ __forceinline__ i32 wrapping_shl_i32(i32 a, u32 amount) {
    return (i32)((u32)a << (amount & 31));
}

__device__ __forceinline__ i32 wrapping_shr_i32(i32 a, u32 amount) {
    return (i32)(a >> (amount & 31));
}

__device__ __forceinline__ i32 min_i32(i32 a, i32 b) {
    return a < b ? a : b;
}

__device__ __forceinline__ i32 max_i32(i32 a, i32 b) {
    return a > b ? a : b;
}

__device__ __forceinline__ i32 wrapping_div_i32(i32 a, i32 b) {
    return b == 0 ? (i32)0 : b == -1 ? (i32)((u32)0 - (u32)a) : (i32)(a / b);
}

__device__ __forceinline__ i32 wrapping_rem_i32(i32 a, i32 b) {
    return b == 0 || b == -1 ? (i32)0 : (i32)(a % b);
}

__device__ __forceinline__ i32 wrapping_neg_i32(i32 a) {
    return (i32)((u32)0 - (u32)a);
}

extern "C" __global__ void __launch_bounds__(32) integers_i32(
    const i32* __restrict__ left, index_t left_extent0,
    const i32* __restrict__ right, index_t right_extent0,
    i32* __restrict__ output, index_t output_rows, index_t output_cols, index_t output_pitch) {
    const index_t thread_x = threadIdx.x;
    const index_t block_x = blockIdx.x;
    const index_t i = block_x * 32 + thread_x;
    const bool active = i < left_extent0;
    const i32 x = load_global_i32(&left[i], active);
    const i32 y = load_global_i32(&right[i], active);
    store_global_i32(&output[0 * output_pitch + i], wrapping_add_i32(x, y), active);
    store_global_i32(&output[1 * output_pitch + i], wrapping_sub_i32(x, y), active);
    store_global_i32(&output[2 * output_pitch + i], wrapping_mul_i32(x, y), active);
    store_global_i32(&output[3 * output_pitch + i], x & y, active);
    store_global_i32(&output[4 * output_pitch + i], x | y, active);
    store_global_i32(&output[5 * output_pitch + i], x ^ y, active);
    store_global_i32(&output[6 * output_pitch + i], wrapping_shl_i32(x, (u32)y), active);
    store_global_i32(&output[7 * output_pitch + i], wrapping_shr_i32(x, (u32)y), active);
    store_global_i32(&output[8 * output_pitch + i], min_i32(x, y), active);
    store_global_i32(&output[9 * output_pitch + i], max_i32(x, y), active);
    store_global_i32(&output[10 * output_pitch + i], wrapping_shl_i32(x, 0), active);
    store_global_i32(&output[11 * output_pitch + i], x >> 0, active);
    store_global_i32(&output[12 * output_pitch + i], wrapping_shl_i32(x, 1), active);
    store_global_i32(&output[13 * output_pitch + i], x >> 1, active);
    store_global_i32(&output[14 * output_pitch + i], wrapping_shl_i32(x, 31), active);
    store_global_i32(&output[15 * output_pitch + i], x >> 31, active);
    store_global_i32(&output[16 * output_pitch + i], x / 1, active);
    store_global_i32(&output[17 * output_pitch + i], x % 1, active);
    store_global_i32(&output[18 * output_pitch + i], x / 3, active);
    store_global_i32(&output[19 * output_pitch + i], x % 3, active);
    store_global_i32(&output[20 * output_pitch + i], x / 16, active);
    store_global_i32(&output[21 * output_pitch + i], x % 16, active);
    store_global_i32(&output[22 * output_pitch + i], wrapping_div_i32(x, -1), active);
    store_global_i32(&output[23 * output_pitch + i], wrapping_rem_i32(x, -1), active);
    store_global_i32(&output[24 * output_pitch + i], x / -7, active);
    store_global_i32(&output[25 * output_pitch + i], x % -7, active);
    store_global_i32(&output[26 * output_pitch + i], ~x, active);
    store_global_i32(&output[27 * output_pitch + i], wrapping_add_i32(x, y) < x ? (-2147483647 - 1) : 2147483647, active);
    store_global_i32(&output[28 * output_pitch + i], wrapping_mul_i32(wrapping_sub_i32(~wrapping_add_i32(x, y), 2147483647), wrapping_sub_i32(~wrapping_add_i32(x, y), 2147483647)), active);
    store_global_i32(&output[29 * output_pitch + i], wrapping_neg_i32(x), active);
    const bool active_1 = active && y != 0;
    store_global_i32(&output[40 * output_pitch + i], wrapping_div_i32(x, y), active_1);
    store_global_i32(&output[41 * output_pitch + i], wrapping_rem_i32(x, y), active_1);
}
