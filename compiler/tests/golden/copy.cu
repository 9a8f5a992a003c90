// copy: blocks of 256 x 1 x 1 = 256 threads

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

extern "C" __global__ void __launch_bounds__(256) copy(
    const f32* __restrict__ input, index_t input_extent0,
    f32* __restrict__ output, index_t output_extent0) {
    const index_t thread_x = threadIdx.x;
    const index_t block_x = blockIdx.x;
    const index_t i = block_x * 256 + thread_x;
    const bool active = i < input_extent0;
    const f32 value = load_global_f32(&input[i], active);
    store_global_f32(&output[i], value, active);
}
