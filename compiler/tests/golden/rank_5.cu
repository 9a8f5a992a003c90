// rank_5: blocks of 32 x 1 x 1 = 32 threads

typedef unsigned int u32;
typedef float f32;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

__device__ __forceinline__ f32 load_global_f32(const f32* pointer, bool active) {
    f32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.f32 %0, [%1]; }"
                 : "+f"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ void store_global_f32(f32* pointer, f32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.f32 [%0], %1; }"
                 :: "l"(pointer), "f"(value), "r"((u32)active) : "memory");
}

extern "C" __global__ void __launch_bounds__(32) rank_5(
    const f32* __restrict__ input, index_t input_extent0, index_t input_extent1, index_t input_extent2, index_t input_extent3, index_t input_extent4, index_t input_stride0, index_t input_stride1, index_t input_stride2, index_t input_stride3,
    f32* __restrict__ output, index_t output_extent0, index_t output_extent1, index_t output_extent2, index_t output_extent3, index_t output_extent4, index_t output_stride0, index_t output_stride1, index_t output_stride2, index_t output_stride3) {
    const index_t thread_x = threadIdx.x;
    const index_t block_x = blockIdx.x;
    const index_t block_y = blockIdx.y;
    const index_t block_z = blockIdx.z;
    const index_t e = block_x * 32 + thread_x;
    #pragma unroll 1
    for (index_t a = 0; a < input_extent0; a += 1) {
        #pragma unroll 1
        for (index_t b = 0; b < input_extent1; b += 1) {
            const bool active = e < input_extent4;
            const f32 input_value = load_global_f32(&input[a * input_stride0 + b * input_stride1 + block_z * input_stride2 + block_y * input_stride3 + e], active);
            store_global_f32(&output[a * output_stride0 + b * output_stride1 + block_z * output_stride2 + block_y * output_stride3 + e], input_value, active);
        }
    }
}
