// integers_i16: blocks of 32 x 1 x 1 = 32 threads

typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

__device__ __forceinline__ i16 narrow_i16(u32 a) {
    i16 result;
    asm("cvt.u16.u32 %0, %1;" : "=h"(result) : "r"(a));
    return result;
}

__device__ __forceinline__ i16 load_global_i16(const i16* pointer, bool active) {
    u32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.u16 %0, [%1]; }"
                 : "+r"(value) : "l"(pointer), "r"((u32)active));
    return (i16)value;
}

__device__ __forceinline__ void store_global_i16(i16* pointer, i16 elements, bool active) {
    const u32 value = (u32)elements;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.u16 [%0], %1; }"
                 :: "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i16 wrapping_add_i16(i16 a, i16 b) {
    return narrow_i16((u32)a + (u32)b);
}

__device__ __forceinline__ i16 wrapping_sub_i16(i16 a, i16 b) {
    return narrow_i16((u32)a - (u32)b);
}

__device__ __forceinline__ i16 wrapping_mul_i16(i16 a, i16 b) {
    return narrow_i16((u32)a * (u32)b);
}

__device__ __forceinline__ i16 wrapping_shl_i16(i16 a, u32 amount) {
    return narrow_i16((u32)a << (amount & 15));
}

__device__ __forceinline__ i16 wrapping_shr_i16(i16 a, u32 amount) {
    return (i16)(a >> (amount & 15));
}

__device__ __forceinline__ i16 min_i16(i16 a, i16 b) {
    return a < b ? a : b;
}

__device__ __forceinline__ i16 max_i16(i16 a, i16 b) {
    return a > b ? a : b;
}

__device__ __forceinline__ i16 wrapping_div_i16(i16 a, i16 b) {
    return b == 0 ? (i16)0 : b == -1 ? narrow_i16((u32)0 - (u32)a) : (i16)(a / b);
}

__device__ __forceinline__ i16 wrapping_rem_i16(i16 a, i16 b) {
    return b == 0 || b == -1 ? (i16)0 : (i16)(a % b);
}

__device__ __forceinline__ i16 wrapping_neg_i16(i16 a) {
    return narrow_i16((u32)0 - (u32)a);
}

extern "C" __global__ void __launch_bounds__(32) integers_i16(
    const i16* __restrict__ left, index_t left_extent0,
    const i16* __restrict__ right, index_t right_extent0,
    i16* __restrict__ output, index_t output_rows, index_t output_cols, index_t output_pitch) {
    const index_t thread_x = threadIdx.x;
    const index_t block_x = blockIdx.x;
    const index_t i = block_x * 32 + thread_x;
    const bool active = i < left_extent0;
    const i16 x = load_global_i16(&left[i], active);
    const i16 y = load_global_i16(&right[i], active);
    store_global_i16(&output[0 * output_pitch + i], wrapping_add_i16(x, y), active);
    store_global_i16(&output[1 * output_pitch + i], wrapping_sub_i16(x, y), active);
    store_global_i16(&output[2 * output_pitch + i], wrapping_mul_i16(x, y), active);
    store_global_i16(&output[3 * output_pitch + i], x & y, active);
    store_global_i16(&output[4 * output_pitch + i], x | y, active);
    store_global_i16(&output[5 * output_pitch + i], x ^ y, active);
    store_global_i16(&output[6 * output_pitch + i], wrapping_shl_i16(x, (u32)y), active);
    store_global_i16(&output[7 * output_pitch + i], wrapping_shr_i16(x, (u32)y), active);
    store_global_i16(&output[8 * output_pitch + i], min_i16(x, y), active);
    store_global_i16(&output[9 * output_pitch + i], max_i16(x, y), active);
    store_global_i16(&output[10 * output_pitch + i], wrapping_shl_i16(x, 0), active);
    store_global_i16(&output[11 * output_pitch + i], x >> 0, active);
    store_global_i16(&output[12 * output_pitch + i], wrapping_shl_i16(x, 1), active);
    store_global_i16(&output[13 * output_pitch + i], x >> 1, active);
    store_global_i16(&output[14 * output_pitch + i], wrapping_shl_i16(x, 15), active);
    store_global_i16(&output[15 * output_pitch + i], x >> 15, active);
    store_global_i16(&output[16 * output_pitch + i], x / 1, active);
    store_global_i16(&output[17 * output_pitch + i], x % 1, active);
    store_global_i16(&output[18 * output_pitch + i], x / 3, active);
    store_global_i16(&output[19 * output_pitch + i], x % 3, active);
    store_global_i16(&output[20 * output_pitch + i], x / 16, active);
    store_global_i16(&output[21 * output_pitch + i], x % 16, active);
    store_global_i16(&output[22 * output_pitch + i], wrapping_div_i16(x, -1), active);
    store_global_i16(&output[23 * output_pitch + i], wrapping_rem_i16(x, -1), active);
    store_global_i16(&output[24 * output_pitch + i], x / -7, active);
    store_global_i16(&output[25 * output_pitch + i], x % -7, active);
    store_global_i16(&output[26 * output_pitch + i], ~x, active);
    store_global_i16(&output[27 * output_pitch + i], wrapping_add_i16(x, y) < x ? -32768 : 32767, active);
    store_global_i16(&output[28 * output_pitch + i], wrapping_mul_i16(wrapping_sub_i16(~wrapping_add_i16(x, y), 32767), wrapping_sub_i16(~wrapping_add_i16(x, y), 32767)), active);
    store_global_i16(&output[29 * output_pitch + i], wrapping_neg_i16(x), active);
    const bool active_1 = active && y != 0;
    store_global_i16(&output[40 * output_pitch + i], wrapping_div_i16(x, y), active_1);
    store_global_i16(&output[41 * output_pitch + i], wrapping_rem_i16(x, y), active_1);
}
