// transpose_shared: blocks of 32 x 8 x 1 = 256 threads
// tile: f32[32][32] in shared memory, RowMajor, 4096 bytes

typedef unsigned int u32;
typedef float f32;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return (u32)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ f32 load_global_f32(const f32* pointer, bool active) {
    f32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.f32 %0, [%1]; }"
                 : "+f"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ void store_shared_f32(u32 address, f32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.volatile.shared.f32 [%0], %1; }"
                 :: "r"(address), "f"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ f32 load_shared_f32(u32 address, bool active) {
    f32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.volatile.shared.f32 %0, [%1]; }"
                 : "+f"(value) : "r"(address), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_global_f32(f32* pointer, f32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.f32 [%0], %1; }"
                 :: "l"(pointer), "f"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u32 tile_at(u32 row, u32 col) {
    return (row * 32 + col) * 4;
}

extern "C" __global__ void __launch_bounds__(256) transpose_shared(
    const f32* __restrict__ input, index_t input_rows, index_t input_cols, index_t input_pitch,
    f32* __restrict__ output, index_t output_rows, index_t output_cols, index_t output_pitch) {
    __shared__ alignas(16) f32 tile[1024];
    const u32 tile_base = shared_address(tile);
    const index_t thread_x = threadIdx.x;
    const index_t thread_y = threadIdx.y;
    const index_t block_x = blockIdx.x;
    const index_t block_y = blockIdx.y;
    const index_t row0 = block_y * 32 + thread_y;
    const index_t col = block_x * 32 + thread_x;
    #pragma unroll
    for (index_t k = 0; k < 32; k += 8) {
        const bool active = row0 + k < input_rows && col < input_cols;
        const f32 input_value = load_global_f32(&input[(row0 + k) * input_pitch + col], active);
        store_shared_f32(tile_base + tile_at(thread_y + k, thread_x), input_value, active);
    }
    __syncthreads();
    const index_t row0_1 = block_x * 32 + thread_y;
    const index_t col_1 = block_y * 32 + thread_x;
    #pragma unroll
    for (index_t k_1 = 0; k_1 < 32; k_1 += 8) {
        const bool active_1 = row0_1 + k_1 < output_rows && col_1 < output_cols;
        const f32 tile_value = load_shared_f32(tile_base + tile_at(thread_x, thread_y + k_1), active_1);
        store_global_f32(&output[(row0_1 + k_1) * output_pitch + col_1], tile_value, active_1);
    }
}
