// swizzle_stages: blocks of 32 x 2 x 1 = 64 threads
// right: f32[2][32][32] in shared memory, Swizzle<5, 0, 5>, 8192 bytes
// left: f32[2][2][8][32] in shared memory, Swizzle<2, 0, -3>, 4096 bytes
// xor: f32[3][16][32] in shared memory, Xor<4>, 6144 bytes

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

__device__ __forceinline__ u32 right_at(u32 stage, u32 row, u32 col) {
    const u32 place = col ^ ((row & 31u) << 0);
    return ((stage * 32 + row) * 32 + place) * 4;
}

__device__ __forceinline__ u32 left_at(u32 i0, u32 i1, u32 i2, u32 i3) {
    const u32 element = ((i0 * 2 + i1) * 8 + i2) * 32 + i3;
    return (element ^ (((element >> 0) & 3u) << 3)) * 4;
}

__device__ __forceinline__ u32 xor_at(u32 stage, u32 row, u32 col) {
    const u32 chunk = (col / 4) ^ (row % 8);
    return ((stage * 16 + row) * 32 + (chunk * 4 + col % 4)) * 4;
}

extern "C" __global__ void __launch_bounds__(64) swizzle_stages(
    f32* __restrict__ output, index_t output_rows, index_t output_cols, index_t output_pitch) {
    __shared__ alignas(16) f32 right[2048];
    const u32 right_base = shared_address(right);
    __shared__ alignas(16) f32 left[1024];
    const u32 left_base = shared_address(left);
    __shared__ alignas(16) f32 xor_1[1536];
    const u32 xor_base = shared_address(xor_1);
    const index_t thread_x = threadIdx.x;
    const index_t thread_y = threadIdx.y;
    const f32 sums_value = 0.5f;
    f32 sums[2][3];
    #pragma unroll
    for (u32 i = 0; i < 2; ++i) {
        #pragma unroll
        for (u32 i_1 = 0; i_1 < 3; ++i_1) {
            sums[i][i_1] = sums_value;
        }
    }
    store_shared_f32(right_base + right_at(thread_y, thread_x, 2), 0.5f, true);
    store_shared_f32(left_base + left_at(thread_y, 1, 2, thread_x), 0.5f, true);
    store_shared_f32(xor_base + xor_at(2, thread_y, thread_x), 0.5f, true);
    __syncthreads();
    const f32 a = load_shared_f32(right_base + right_at(thread_y, 2, thread_x), true);
    const f32 c = load_shared_f32(left_base + left_at(thread_y, thread_y, 2, thread_x), true);
    const f32 d = load_shared_f32(xor_base + xor_at(1, thread_y, thread_x), true);
    sums[1][2] = sums[1][2] + a - c * d;
    store_global_f32(&output[thread_y * output_pitch + thread_x], sums[1][2], true);
}
