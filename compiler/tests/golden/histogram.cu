// histogram: blocks of 128 x 1 x 1 = 128 threads
// bins: u32[256] in shared memory, RowMajor, 1024 bytes

typedef unsigned char u8;
typedef unsigned int u32;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return (u32)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ void store_shared_u32(u32 address, u32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.volatile.shared.u32 [%0], %1; }"
                 :: "r"(address), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u8 load_global_u8(const u8* pointer, bool active) {
    u32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.u8 %0, [%1]; }"
                 : "+r"(value) : "l"(pointer), "r"((u32)active));
    return (u8)value;
}

__device__ __forceinline__ void reduce_add_shared_u32(u32 address, u32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.cta.shared.add.u32 [%0], %1; }"
                 : : "r"(address), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u32 load_shared_u32(u32 address, bool active) {
    u32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.volatile.shared.u32 %0, [%1]; }"
                 : "+r"(value) : "r"(address), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void reduce_add_global_u32(u32* pointer, u32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.gpu.global.add.u32 [%0], %1; }"
                 : : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u32 bins_at(u32 col) {
    return col * 4;
}

extern "C" __global__ void __launch_bounds__(128) histogram(
    const u8* __restrict__ input, index_t input_extent0,
    u32* __restrict__ output, index_t output_extent0) {
    __shared__ alignas(16) u32 bins[256];
    const u32 bins_base = shared_address(bins);
    const index_t thread_x = threadIdx.x;
    const index_t block_x = blockIdx.x;
    #pragma unroll
    for (index_t k = 0; k < 2; k += 1) {
        store_shared_u32(bins_base + bins_at(k * 128 + thread_x), 0u, true);
    }
    __syncthreads();
    #pragma unroll
    for (index_t k_1 = 0; k_1 < 8; k_1 += 1) {
        const index_t i = block_x * 1024 + k_1 * 128 + thread_x;
        const bool active = i < input_extent0;
        const u8 input_value = load_global_u8(&input[i], active);
        reduce_add_shared_u32(bins_base + bins_at((index_t)input_value), 1u, active);
    }
    __syncthreads();
    #pragma unroll
    for (index_t k_2 = 0; k_2 < 2; k_2 += 1) {
        const index_t bin = k_2 * 128 + thread_x;
        const u32 bins_value = load_shared_u32(bins_base + bins_at(bin), true);
        const u32 count = bins_value;
        const bool active_1 = count > 0u;
        reduce_add_global_u32(&output[bin], count, active_1);
    }
}
