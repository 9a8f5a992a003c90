// transpose_vectorised: blocks of 16 x 16 x 1 = 256 threads
// tile: f32[64][64] in shared memory, Swizzle<4, 2, 6>, 16384 bytes

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

__device__ __forceinline__ u32 tile_at(u32 row, u32 col) {
    const u32 place = col ^ (((row >> 2) & 15u) << 2);
    return (row * 64 + place) * 4;
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
    f32 square[4][4] = {};
    const index_t row0 = block_x * 64 + 4 * thread_y;
    const index_t col = block_y * 64 + 4 * thread_x;
    #pragma unroll
    for (index_t i = 0; i < 4; i += 1) {
        if (row0 + i < input_rows && col < input_cols) {
            const f32x4 input_value = load_global_f32x4(&input[(row0 + i) * input_pitch + col], true);
            const f32x4 row = input_value;
            #pragma unroll
            for (index_t j = 0; j < 4; j += 1) {
                square[j][i] = row.lane[j];
            }
        }
    }
    #pragma unroll
    for (index_t j_1 = 0; j_1 < 4; j_1 += 1) {
        store_shared_f32x4(tile_base + tile_at(4 * thread_x + j_1, 4 * thread_y), f32x4{{square[j_1][0], square[j_1][1], square[j_1][2], square[j_1][3]}}, true);
    }
    __syncthreads();
    const index_t row0_1 = block_y * 64 + thread_y;
    const index_t col_1 = block_x * 64 + 4 * thread_x;
    #pragma unroll
    for (index_t i_1 = 0; i_1 < 64; i_1 += 16) {
        const bool active = row0_1 + i_1 < output_rows && col_1 < output_cols;
        const f32x4 tile_value = load_shared_f32x4(tile_base + tile_at(thread_y + i_1, 4 * thread_x), active);
        const f32x4 row_1 = tile_value;
        store_global_f32x4(&output[(row0_1 + i_1) * output_pitch + col_1], row_1, active);
    }
}
