// transpose_vectorised: blocks of 16 x 16 x 1 = 256 threads
// tile: f32[64][64] in shared memory, Xor<4>, 16384 bytes

typedef unsigned int u32;
typedef float f32;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

struct alignas(16) f32x4 { f32 lane[4]; };

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return (u32)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ f32x4 load_global_f32x4(const f32* pointer, bool active) {
    f32x4 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4]; }"
                 : "+f"(value.lane[0]), "+f"(value.lane[1]), "+f"(value.lane[2]), "+f"(value.lane[3]) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ void store_shared_f32x4(u32 address, f32x4 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active st.volatile.shared.v4.f32 [%0], {%1, %2, %3, %4}; }"
                 :: "r"(address), "f"(value.lane[0]), "f"(value.lane[1]), "f"(value.lane[2]), "f"(value.lane[3]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ f32x4 load_shared_f32x4(u32 address, bool active) {
    f32x4 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4]; }"
                 : "+f"(value.lane[0]), "+f"(value.lane[1]), "+f"(value.lane[2]), "+f"(value.lane[3]) : "r"(address), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_global_f32x4(f32* pointer, f32x4 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active st.global.v4.f32 [%0], {%1, %2, %3, %4}; }"
                 :: "l"(pointer), "f"(value.lane[0]), "f"(value.lane[1]), "f"(value.lane[2]), "f"(value.lane[3]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ f32x4 select_f32x4(bool condition, f32x4 yes, f32x4 no) {
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) yes.lane[i] = condition ? yes.lane[i] : no.lane[i];
    return yes;
}

__device__ __forceinline__ u32 tile_at(u32 row, u32 col) {
    const u32 chunk = (col / 4) ^ (row % 16);
    return (row * 64 + (chunk * 4 + col % 4)) * 4;
}

extern "C" __global__ void __launch_bounds__(256) transpose_vectorised(
    const f32* __restrict__ input, index_t input_rows, index_t input_cols, index_t input_pitch,
    f32* __restrict__ output, index_t output_rows, index_t output_cols, index_t output_pitch) {
    __shared__ alignas(16) f32 tile[4096];
    const u32 tile_base = shared_address(tile);
    const index_t thread_x = threadIdx.x;
    const index_t thread_y = threadIdx.y;
    const index_t block_x = blockIdx.x;
    const index_t block_y = blockIdx.y;
    const index_t x4 = thread_x * 4;
    const index_t y4 = thread_y * 4;
    f32x4 registers[4] = {};
    const index_t row0 = block_y * 64 + y4;
    const index_t col0 = block_x * 64 + x4;
    #pragma unroll
    for (index_t i = 0; i < 4; i += 1) {
        const bool active = row0 + i < input_rows && col0 < input_cols;
        const f32x4 value = load_global_f32x4(&input[(row0 + i) * input_pitch + col0], active);
        registers[i] = select_f32x4(active, value, registers[i]);
    }
    #pragma unroll
    for (index_t j = 0; j < 4; j += 1) {
        store_shared_f32x4(tile_base + tile_at(x4 + j, y4), f32x4{{registers[0].lane[j], registers[1].lane[j], registers[2].lane[j], registers[3].lane[j]}}, true);
    }
    __syncthreads();
    const index_t row0_1 = block_x * 64 + thread_y;
    const index_t col0_1 = block_y * 64 + x4;
    #pragma unroll
    for (index_t k = 0; k < 64; k += 16) {
        const bool active_1 = row0_1 + k < output_rows && col0_1 < output_cols;
        const f32x4 value_1 = load_shared_f32x4(tile_base + tile_at(thread_y + k, x4), active_1);
        store_global_f32x4(&output[(row0_1 + k) * output_pitch + col0_1], value_1, active_1);
    }
}
