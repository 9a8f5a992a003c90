// control: blocks of 64 x 1 x 1 = 64 threads
// tile: f32[64] in shared memory, RowMajor, 256 bytes
// unused_tile: f32[64] in shared memory, RowMajor, 256 bytes

typedef int i32;
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

__device__ __forceinline__ f32 load_global_mut_f32(const f32* pointer, bool active) {
    f32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.f32 %0, [%1]; }"
                 : "+f"(value) : "l"(pointer), "r"((u32)active) : "memory");
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

__device__ __forceinline__ u32 tile_at(u32 col) {
    return col * 4;
}

extern "C" __global__ void __launch_bounds__(64) control(
    f32* __restrict__ input, index_t input_rows, index_t input_cols, index_t input_pitch,
    f32* __restrict__ output, index_t output_extent0, index_t output_extent1, index_t output_extent2, index_t output_stride0, index_t output_stride1,
    index_t n,
    i32 stride,
    bool flip) {
    __shared__ alignas(16) f32 tile[64];
    const u32 tile_base = shared_address(tile);
    const index_t thread_x = threadIdx.x;
    i32 late = {};
    f32 sum = 0.0f;
    #pragma unroll
    for (index_t i = 0; i < 4; i += 1) {
        const f32 value = load_global_mut_f32(&input[i * input_pitch + thread_x], true);
        const bool active = value > 0.0f;
        const bool inactive = !active;
        sum = active ? sum + value : sum;
        f32 picked = 0x1.99999ap-4f;
        const bool active_1 = active && flip;
        store_shared_f32(tile_base + tile_at(thread_x), sum + value, active_1);
        picked = inactive ? 0.0f : picked;
        sum = sum * picked;
    }
    #pragma unroll 1
    for (index_t k = 0; k < n; k += 16) {
        if (k < 4) {
            __syncthreads();
            late = (i32)k;
        } else {
            late = stride;
        }
        const i32 j_end = late;
        #pragma unroll 1
        for (i32 j = -5; j < j_end; j = (u32)j_end - (u32)j > stride ? j + stride : j_end) {
            sum = sum + (f32)j;
        }
    }
    #pragma unroll 1
    for (index_t k_3 = 0; k_3 < 100; k_3 += 1) {
        const bool active_2 = false;
        store_shared_f32(tile_base + tile_at(k_3), 0.0f, active_2);
        load_shared_f32(tile_base + tile_at(k_3), true);
    }
    store_global_f32(&output[1 * output_stride0 + 2 * output_stride1 + thread_x], sum, true);
}
