// product_f32: blocks of 32 x 1 x 1 = 32 threads
// for sm_80 and later, because of mma
// tile: f32[24][8] in shared memory, Swizzle<1, 2, 3>, 768 bytes

typedef unsigned int u32;
typedef float f32;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

struct alignas(16) f32x4 { f32 lane[4]; };

struct alignas(8) f32x2 { f32 lane[2]; };

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

__device__ __forceinline__ f32x4 load_matrices_f32x4(u32 address) {
    u32 words[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]) : "r"(address) : "memory");
    f32x4 elements;
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) elements.lane[i] = __uint_as_float(words[i]);
    return elements;
}

__device__ __forceinline__ f32x2 load_matrices_f32x2(u32 address) {
    u32 words[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(words[0]), "=r"(words[1]) : "r"(address) : "memory");
    f32x2 elements;
    #pragma unroll
    for (u32 i = 0; i < 2; ++i) elements.lane[i] = __uint_as_float(words[i]);
    return elements;
}

__device__ __forceinline__ void store_global_f32x2(f32* pointer, f32x2 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active st.global.v2.f32 [%0], {%1, %2}; }"
                 :: "l"(pointer), "f"(value.lane[0]), "f"(value.lane[1]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ f32x4 mma_m16n8k8_tf32(f32x4 a, f32x2 b, f32x4 c) {
    u32 left[4] = {};
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) left[i / 1] |= (u32)__float_as_uint(a.lane[i]) << i % 1 * 32;
    u32 right[2] = {};
    #pragma unroll
    for (u32 i = 0; i < 2; ++i) right[i / 1] |= (u32)__float_as_uint(b.lane[i]) << i % 1 * 32;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c.lane[0]), "+f"(c.lane[1]), "+f"(c.lane[2]), "+f"(c.lane[3]) : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
    return c;
}

__device__ __forceinline__ f32 to_tf32_f32(f32 a) {
    return a != a ? a : __uint_as_float((__float_as_uint(a) + 0x1000u) & 0xffffe000u);
}

__device__ __forceinline__ u32 tile_at(u32 row, u32 col) {
    const u32 place = col ^ (((row >> 2) & 1u) << 2);
    return (row * 8 + place) * 4;
}

extern "C" __global__ void __launch_bounds__(32) product_f32(
    const f32* __restrict__ input, index_t input_extent0,
    f32* __restrict__ output, index_t output_extent0) {
    __shared__ alignas(16) f32 tile[192];
    const u32 tile_base = shared_address(tile);
    const index_t thread_x = threadIdx.x;
    #pragma unroll
    for (index_t part = 0; part < 2; part += 1) {
        const index_t vector = 32 * part + thread_x;
        const bool active = vector < 48;
        const f32x4 input_value = load_global_f32x4(&input[4 * vector], active);
        store_shared_f32x4(tile_base + tile_at(vector / 2, vector % 2 * 4), input_value, active);
    }
    __syncwarp(0xffffffffu);
    const f32x4 tile_matrices = load_matrices_f32x4(tile_base + tile_at(thread_x % 16, thread_x / 16 * 4));
    const f32 x = tile_matrices.lane[0];
    const f32 mapped = to_tf32_f32(x);
    const f32 x_1 = tile_matrices.lane[1];
    const f32 mapped_1 = to_tf32_f32(x_1);
    const f32 x_2 = tile_matrices.lane[2];
    const f32 mapped_2 = to_tf32_f32(x_2);
    const f32 x_3 = tile_matrices.lane[3];
    const f32 mapped_3 = to_tf32_f32(x_3);
    const f32x4 a = f32x4{{mapped, mapped_1, mapped_2, mapped_3}};
    const f32x2 tile_matrices_1 = load_matrices_f32x2(tile_base + tile_at(16 + thread_x % 8, thread_x / 8 % 2 * 4));
    const f32x2 b = tile_matrices_1;
    const f32 x_4 = b.lane[0];
    const f32 mapped_4 = to_tf32_f32(x_4);
    const f32 x_5 = b.lane[1];
    const f32 mapped_5 = to_tf32_f32(x_5);
    const f32x4 sum = mma_m16n8k8_tf32(a, f32x2{{mapped_4, mapped_5}}, f32x4{{0.0f, 0.0f, 0.0f, 0.0f}});
    const f32x4 sum_1 = sum;
    #pragma unroll
    for (index_t half = 0; half < 2; half += 1) {
        const index_t place = (thread_x / 4 + 8 * half) * 8 + thread_x % 4 * 2;
        store_global_f32x2(&output[place], f32x2{{sum_1.lane[2 * half], sum_1.lane[2 * half + 1]}}, true);
    }
}
