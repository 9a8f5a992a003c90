// orders: blocks of 32 x 1 x 1 = 32 threads

typedef unsigned int u32;
typedef unsigned long long index_t;

__device__ __forceinline__ u32 load_global_u32(const u32* pointer, bool active) {
    u32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.u32 %0, [%1]; }"
                 : "+r"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ void store_global_u32(u32* pointer, u32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.u32 [%0], %1; }"
                 :: "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

extern "C" __global__ void __launch_bounds__(32) orders(
    const u32* __restrict__ index, index_t index_extent0,
    u32* __restrict__ output, index_t output_rows, index_t output_cols, index_t output_pitch) {
    const index_t thread_x = threadIdx.x;
    const index_t block_x = blockIdx.x;
    index_t row = {};
    index_t col = {};
    const index_t number = block_x;
    const index_t whole = output_rows / 8 * 8;
    if (number < whole * output_cols) {
        const index_t column = number / 8;
        row = column / output_cols * 8 + number % 8;
        col = column % output_cols;
    } else {
        const index_t height = output_rows - whole;
        const index_t rest = number - whole * output_cols;
        row = whole + rest % height;
        col = rest / height;
    }
    const index_t row_1 = row;
    const index_t col_1 = col;
    const index_t rest_1 = block_x;
    const index_t rest_2 = rest_1 / 4;
    const index_t index_2 = rest_2 % 3;
    const index_t index_3 = rest_1 % 4;
    const index_t r = index_2;
    const index_t c = index_3;
    const bool active = thread_x == 0;
    const u32 index_value = load_global_u32(&index[block_x / 4 * 4 + block_x % 4], active);
    store_global_u32(&output[row_1 * output_pitch + col_1], index_value + (u32)(r * c), active);
}
