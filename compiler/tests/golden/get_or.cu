// get_or: blocks of 32 x 1 x 1 = 32 threads

typedef unsigned int u32;
typedef float f32;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif
#ifdef TILEPROOF_WIDE
typedef long long offset_t;
#else
typedef int offset_t;
#endif

__device__ __forceinline__ u32 load_or_global_u32(const u32* pointer, bool active, u32 otherwise) {
    u32 value = otherwise;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.u32 %0, [%1]; }"
                 : "+r"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ f32 load_or_global_f32(const f32* pointer, bool active, f32 otherwise) {
    f32 value = otherwise;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.f32 %0, [%1]; }"
                 : "+f"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ void store_global_f32(f32* pointer, f32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.f32 [%0], %1; }"
                 :: "l"(pointer), "f"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ offset_t wrapping_sub_isize(offset_t a, offset_t b) {
    return (offset_t)((index_t)a - (index_t)b);
}

extern "C" __global__ void __launch_bounds__(32) get_or(
    const f32* __restrict__ table, index_t table_rows, index_t table_cols, index_t table_pitch,
    const u32* __restrict__ row, index_t row_extent0,
    f32* __restrict__ output, index_t output_extent0) {
    const index_t thread_x = threadIdx.x;
    const index_t block_x = blockIdx.x;
    const index_t i = block_x * 32 + thread_x;
    u32 row_value = 0u;
    const bool active = i < row_extent0;
    row_value = load_or_global_u32(&row[i], active, row_value);
    const u32 at = row_value;
    f32 table_value = -1.0f;
    const bool active_1 = (index_t)at < table_rows && 0 < table_cols;
    table_value = load_or_global_f32(&table[(index_t)at * table_pitch + 0], active_1, table_value);
    const f32 value = table_value;
    const bool active_2 = i < output_extent0;
    f32 table_value_2 = 0.5f;
    const bool active_3 = active_2 && 0 >= 0 && 0 < (offset_t)table_rows && wrapping_sub_isize((offset_t)i, 1) >= 0 && wrapping_sub_isize((offset_t)i, 1) < (offset_t)table_cols;
    table_value_2 = load_or_global_f32(&table[(index_t)0 * table_pitch + (index_t)wrapping_sub_isize((offset_t)i, 1)], active_3, table_value_2);
    store_global_f32(&output[i], value + table_value_2, active_2);
}
