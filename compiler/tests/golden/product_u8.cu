// product_u8: blocks of 32 x 1 x 1 = 32 threads
// for sm_80 and later, because of mma
// tile: u8[24][32] in shared memory, Swizzle<1, 4, 3>, 768 bytes

typedef int i32;
typedef unsigned char u8;
typedef unsigned int u32;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

struct alignas(16) u8x16 { u8 lane[16]; };

struct alignas(8) u8x8 { u8 lane[8]; };

struct alignas(16) i32x4 { i32 lane[4]; };

struct alignas(8) i32x2 { i32 lane[2]; };

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return (u32)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ u8x16 load_global_u8x16(const u8* pointer, bool active) {
    u32 value[4] = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(value[0]), "+r"(value[1]), "+r"(value[2]), "+r"(value[3]) : "l"(pointer), "r"((u32)active));
    u8x16 elements;
    #pragma unroll
    for (u32 i = 0; i < 16; ++i) elements.lane[i] = (u8)(value[i / 4] >> i % 4 * 8);
    return elements;
}

__device__ __forceinline__ void store_shared_u8x16(u32 address, u8x16 elements, bool active) {
    u32 value[4] = {};
    #pragma unroll
    for (u32 i = 0; i < 16; ++i) value[i / 4] |= (u32)(u8)elements.lane[i] << i % 4 * 8;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active st.volatile.shared.v4.b32 [%0], {%1, %2, %3, %4}; }"
                 :: "r"(address), "r"(value[0]), "r"(value[1]), "r"(value[2]), "r"(value[3]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u8x16 load_matrices_u8x16(u32 address) {
    u32 words[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]) : "r"(address) : "memory");
    u8x16 elements;
    #pragma unroll
    for (u32 i = 0; i < 16; ++i) elements.lane[i] = (u8)(words[i / 4] >> i % 4 * 8);
    return elements;
}

__device__ __forceinline__ u8x8 load_matrices_u8x8(u32 address) {
    u32 words[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(words[0]), "=r"(words[1]) : "r"(address) : "memory");
    u8x8 elements;
    #pragma unroll
    for (u32 i = 0; i < 8; ++i) elements.lane[i] = (u8)(words[i / 4] >> i % 4 * 8);
    return elements;
}

__device__ __forceinline__ void store_global_i32x2(i32* pointer, i32x2 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active st.global.v2.s32 [%0], {%1, %2}; }"
                 :: "l"(pointer), "r"(value.lane[0]), "r"(value.lane[1]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i32x4 mma_m16n8k32_u8(u8x16 a, u8x8 b, i32x4 c) {
    u32 left[4] = {};
    #pragma unroll
    for (u32 i = 0; i < 16; ++i) left[i / 4] |= (u32)(u8)a.lane[i] << i % 4 * 8;
    u32 right[2] = {};
    #pragma unroll
    for (u32 i = 0; i < 8; ++i) right[i / 4] |= (u32)(u8)b.lane[i] << i % 4 * 8;
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(c.lane[0]), "+r"(c.lane[1]), "+r"(c.lane[2]), "+r"(c.lane[3]) : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
    return c;
}

__device__ __forceinline__ u32 tile_at(u32 row, u32 col) {
    const u32 place = col ^ (((row >> 2) & 1u) << 4);
    return row * 32 + place;
}

extern "C" __global__ void __launch_bounds__(32) product_u8(
    const u8* __restrict__ input, index_t input_extent0,
    i32* __restrict__ output, index_t output_extent0) {
    __shared__ alignas(16) u8 tile[768];
    const u32 tile_base = shared_address(tile);
    const index_t thread_x = threadIdx.x;
    #pragma unroll
    for (index_t part = 0; part < 2; part += 1) {
        const index_t vector = 32 * part + thread_x;
        const bool active = vector < 48;
        const u8x16 input_value = load_global_u8x16(&input[16 * vector], active);
        store_shared_u8x16(tile_base + tile_at(vector / 2, vector % 2 * 16), input_value, active);
    }
    __syncwarp(0xffffffffu);
    const u8x16 tile_matrices = load_matrices_u8x16(tile_base + tile_at(thread_x % 16, thread_x / 16 * 16));
    const u8x16 a = tile_matrices;
    const u8x8 tile_matrices_1 = load_matrices_u8x8(tile_base + tile_at(16 + thread_x % 8, thread_x / 8 % 2 * 16));
    const u8x8 b = tile_matrices_1;
    const i32x4 sum = mma_m16n8k32_u8(a, b, i32x4{{0, 0, 0, 0}});
    const i32x4 sum_1 = sum;
    #pragma unroll
    for (index_t half = 0; half < 2; half += 1) {
        const index_t place = (thread_x / 4 + 8 * half) * 8 + thread_x % 4 * 2;
        store_global_i32x2(&output[place], i32x2{{sum_1.lane[2 * half], sum_1.lane[2 * half + 1]}}, true);
    }
}
