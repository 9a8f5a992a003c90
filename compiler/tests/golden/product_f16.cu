// product_f16: blocks of 32 x 1 x 1 = 32 threads
// for sm_80 and later, because of mma
// tile: f16[24][16] in shared memory, Swizzle<1, 3, 3>, 768 bytes

typedef unsigned short u16;
typedef unsigned int u32;
typedef float f32;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

struct alignas(2) f16 { u16 bits; };

struct alignas(16) f16x8 { f16 lane[8]; };

struct alignas(8) f16x4 { f16 lane[4]; };

struct alignas(16) f32x4 { f32 lane[4]; };

struct alignas(8) f32x2 { f32 lane[2]; };

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return (u32)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ f16x8 load_global_f16x8(const f16* pointer, bool active) {
    u32 value[4] = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(value[0]), "+r"(value[1]), "+r"(value[2]), "+r"(value[3]) : "l"(pointer), "r"((u32)active));
    f16x8 elements;
    #pragma unroll
    for (u32 i = 0; i < 8; ++i) elements.lane[i] = f16{(u16)(value[i / 2] >> i % 2 * 16)};
    return elements;
}

__device__ __forceinline__ void store_shared_f16x8(u32 address, f16x8 elements, bool active) {
    u32 value[4] = {};
    #pragma unroll
    for (u32 i = 0; i < 8; ++i) value[i / 2] |= (u32)elements.lane[i].bits << i % 2 * 16;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active st.volatile.shared.v4.b32 [%0], {%1, %2, %3, %4}; }"
                 :: "r"(address), "r"(value[0]), "r"(value[1]), "r"(value[2]), "r"(value[3]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ f16x8 load_matrices_f16x8(u32 address) {
    u32 words[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]) : "r"(address) : "memory");
    f16x8 elements;
    #pragma unroll
    for (u32 i = 0; i < 8; ++i) elements.lane[i] = f16{(u16)(words[i / 2] >> i % 2 * 16)};
    return elements;
}

__device__ __forceinline__ f16x4 load_matrices_f16x4(u32 address) {
    u32 words[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(words[0]), "=r"(words[1]) : "r"(address) : "memory");
    f16x4 elements;
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) elements.lane[i] = f16{(u16)(words[i / 2] >> i % 2 * 16)};
    return elements;
}

__device__ __forceinline__ void store_global_f32x2(f32* pointer, f32x2 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active st.global.v2.f32 [%0], {%1, %2}; }"
                 :: "l"(pointer), "f"(value.lane[0]), "f"(value.lane[1]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ f32x4 mma_m16n8k16_f16(f16x8 a, f16x4 b, f32x4 c) {
    u32 left[4] = {};
    #pragma unroll
    for (u32 i = 0; i < 8; ++i) left[i / 2] |= (u32)a.lane[i].bits << i % 2 * 16;
    u32 right[2] = {};
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) right[i / 2] |= (u32)b.lane[i].bits << i % 2 * 16;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c.lane[0]), "+f"(c.lane[1]), "+f"(c.lane[2]), "+f"(c.lane[3]) : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
    return c;
}

__device__ __forceinline__ u32 tile_at(u32 row, u32 col) {
    const u32 place = col ^ (((row >> 2) & 1u) << 3);
    return (row * 16 + place) * 2;
}

extern "C" __global__ void __launch_bounds__(32) product_f16(
    const f16* __restrict__ input, index_t input_extent0,
    f32* __restrict__ output, index_t output_extent0) {
    __shared__ alignas(16) f16 tile[384];
    const u32 tile_base = shared_address(tile);
    const index_t thread_x = threadIdx.x;
    #pragma unroll
    for (index_t part = 0; part < 2; part += 1) {
        const index_t vector = 32 * part + thread_x;
        const bool active = vector < 48;
        const f16x8 input_value = load_global_f16x8(&input[8 * vector], active);
        store_shared_f16x8(tile_base + tile_at(vector / 2, vector % 2 * 8), input_value, active);
    }
    __syncwarp(0xffffffffu);
    const f16x8 tile_matrices = load_matrices_f16x8(tile_base + tile_at(thread_x % 16, thread_x / 16 * 8));
    const f16x8 a = tile_matrices;
    const f16x4 tile_matrices_1 = load_matrices_f16x4(tile_base + tile_at(16 + thread_x % 8, thread_x / 8 % 2 * 8));
    const f16x4 b = tile_matrices_1;
    const f32x4 sum = mma_m16n8k16_f16(a, b, f32x4{{0.0f, 0.0f, 0.0f, 0.0f}});
    const f32x4 sum_1 = sum;
    #pragma unroll
    for (index_t half = 0; half < 2; half += 1) {
        const index_t place = (thread_x / 4 + 8 * half) * 8 + thread_x % 4 * 2;
        store_global_f32x2(&output[place], f32x2{{sum_1.lane[2 * half], sum_1.lane[2 * half + 1]}}, true);
    }
}
