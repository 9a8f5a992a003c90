// tables: blocks of 32 x 4 x 1 = 128 threads

typedef long long i64;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef unsigned long long index_t;
typedef long long offset_t;

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

__device__ __forceinline__ offset_t wrapping_add_isize(offset_t a, offset_t b) {
    return (offset_t)((index_t)a + (index_t)b);
}

__constant__ const f32 WEIGHTS[3][3] = {
    0.0625f, 0.125f, 0.0625f,
    0.125f, 0.25f, 0.125f,
    0x1.99999ap-4f, 0.125f, -0.0f,
};

__constant__ const i64 SIGNS[3] = {
    -1, 0, 1,
};

__constant__ const u64 LARGE[2] = {
    1099511627776ull, 3,
};

extern "C" __global__ void __launch_bounds__(128) tables(
    const f32* __restrict__ input, index_t input_rows, index_t input_cols, index_t input_pitch,
    f32* __restrict__ output, index_t output_rows, index_t output_cols, index_t output_pitch,
    index_t only) {
    const index_t thread_x = threadIdx.x;
    const index_t thread_y = threadIdx.y;
    const index_t block_x = blockIdx.x;
    const index_t block_y = blockIdx.y;
    const offset_t r = (offset_t)(block_y * 4 + thread_y);
    const offset_t c = (offset_t)(block_x * 32 + thread_x);
    f32 sum = 0.0f;
    #pragma unroll
    for (index_t dr = 0; dr < 3; dr += 1) {
        #pragma unroll
        for (index_t dc = 0; dc < 3; dc += 1) {
            f32 input_value = 0.0f;
            const bool active = wrapping_add_isize(r, (offset_t)SIGNS[dr]) >= 0 && wrapping_add_isize(r, (offset_t)SIGNS[dr]) < (offset_t)input_rows && wrapping_add_isize(c, (offset_t)SIGNS[dc]) >= 0 && wrapping_add_isize(c, (offset_t)SIGNS[dc]) < (offset_t)input_cols;
            input_value = load_or_global_f32(&input[(index_t)wrapping_add_isize(r, (offset_t)SIGNS[dr]) * input_pitch + (index_t)wrapping_add_isize(c, (offset_t)SIGNS[dc])], active, input_value);
            sum = sum + WEIGHTS[dr][dc] * input_value;
        }
    }
    #pragma unroll 1
    for (index_t k = 0; k < only; k += 1) {
        if (k < 2) {
            sum = sum + (f32)((index_t)LARGE[k]) * WEIGHTS[k][only % 3];
        }
    }
    const bool active_1 = r >= 0 && r < (offset_t)output_rows && c >= 0 && c < (offset_t)output_cols;
    store_global_f32(&output[(index_t)r * output_pitch + (index_t)c], sum, active_1);
}
