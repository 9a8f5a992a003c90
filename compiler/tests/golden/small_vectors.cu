// small_vectors: blocks of 32 x 1 x 1 = 32 threads
// bool_tile: bool[128] in shared memory, RowMajor, 128 bytes
// i8_tile: i8[512] in shared memory, RowMajor, 512 bytes
// u8_tile: u8[32] in shared memory, RowMajor, 32 bytes
// i16_tile: i16[256] in shared memory, RowMajor, 512 bytes
// u16_tile: u16[32] in shared memory, RowMajor, 64 bytes
// i32_tile: i32[128] in shared memory, RowMajor, 512 bytes
// u32_tile: u32[64] in shared memory, RowMajor, 256 bytes
// i64_tile: i64[64] in shared memory, RowMajor, 512 bytes
// u64_tile: u64[32] in shared memory, RowMajor, 256 bytes
// usize_tile: usize[64] in shared memory, RowMajor, 512 bytes
// f64_tile: f64[64] in shared memory, RowMajor, 512 bytes

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef double f64;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

struct alignas(4) boolx4 { bool lane[4]; };

struct alignas(16) i8x16 { i8 lane[16]; };

struct alignas(16) i16x8 { i16 lane[8]; };

struct alignas(16) i32x4 { i32 lane[4]; };

struct alignas(8) u32x2 { u32 lane[2]; };

struct alignas(16) i64x2 { i64 lane[2]; };

struct alignas(16) u64x2 { u64 lane[2]; };

struct alignas(16) f64x2 { f64 lane[2]; };

struct alignas(2) u8x2 { u8 lane[2]; };

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return (u32)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ boolx4 load_global_mut_boolx4(const bool* pointer, bool active) {
    u32 value[1] = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.b32 %0, [%1]; }"
                 : "+r"(value[0]) : "l"(pointer), "r"((u32)active) : "memory");
    boolx4 elements;
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) elements.lane[i] = (u8)(value[i / 4] >> i % 4 * 8) != 0;
    return elements;
}

__device__ __forceinline__ void store_shared_boolx4(u32 address, boolx4 elements, bool active) {
    u32 value[1] = {};
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) value[i / 4] |= (u32)(bool)elements.lane[i] << i % 4 * 8;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.volatile.shared.b32 [%0], %1; }"
                 :: "r"(address), "r"(value[0]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ boolx4 load_shared_boolx4(u32 address, bool active) {
    u32 value[1] = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.volatile.shared.b32 %0, [%1]; }"
                 : "+r"(value[0]) : "r"(address), "r"((u32)active) : "memory");
    boolx4 elements;
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) elements.lane[i] = (u8)(value[i / 4] >> i % 4 * 8) != 0;
    return elements;
}

__device__ __forceinline__ void store_global_boolx4(bool* pointer, boolx4 elements, bool active) {
    u32 value[1] = {};
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) value[i / 4] |= (u32)(bool)elements.lane[i] << i % 4 * 8;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.b32 [%0], %1; }"
                 :: "l"(pointer), "r"(value[0]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i8x16 load_global_mut_i8x16(const i8* pointer, bool active) {
    u32 value[4] = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active ld.global.v4.b32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(value[0]), "+r"(value[1]), "+r"(value[2]), "+r"(value[3]) : "l"(pointer), "r"((u32)active) : "memory");
    i8x16 elements;
    #pragma unroll
    for (u32 i = 0; i < 16; ++i) elements.lane[i] = (i8)(value[i / 4] >> i % 4 * 8);
    return elements;
}

__device__ __forceinline__ void store_shared_i8x16(u32 address, i8x16 elements, bool active) {
    u32 value[4] = {};
    #pragma unroll
    for (u32 i = 0; i < 16; ++i) value[i / 4] |= (u32)(u8)elements.lane[i] << i % 4 * 8;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active st.volatile.shared.v4.b32 [%0], {%1, %2, %3, %4}; }"
                 :: "r"(address), "r"(value[0]), "r"(value[1]), "r"(value[2]), "r"(value[3]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i8x16 load_shared_i8x16(u32 address, bool active) {
    u32 value[4] = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active ld.volatile.shared.v4.b32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(value[0]), "+r"(value[1]), "+r"(value[2]), "+r"(value[3]) : "r"(address), "r"((u32)active) : "memory");
    i8x16 elements;
    #pragma unroll
    for (u32 i = 0; i < 16; ++i) elements.lane[i] = (i8)(value[i / 4] >> i % 4 * 8);
    return elements;
}

__device__ __forceinline__ void store_global_i8x16(i8* pointer, i8x16 elements, bool active) {
    u32 value[4] = {};
    #pragma unroll
    for (u32 i = 0; i < 16; ++i) value[i / 4] |= (u32)(u8)elements.lane[i] << i % 4 * 8;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active st.global.v4.b32 [%0], {%1, %2, %3, %4}; }"
                 :: "l"(pointer), "r"(value[0]), "r"(value[1]), "r"(value[2]), "r"(value[3]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u8 load_global_mut_u8(const u8* pointer, bool active) {
    u32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.u8 %0, [%1]; }"
                 : "+r"(value) : "l"(pointer), "r"((u32)active) : "memory");
    return (u8)value;
}

__device__ __forceinline__ void store_shared_u8(u32 address, u8 elements, bool active) {
    const u32 value = (u32)elements;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.volatile.shared.u8 [%0], %1; }"
                 :: "r"(address), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u8 load_shared_u8(u32 address, bool active) {
    u32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.volatile.shared.u8 %0, [%1]; }"
                 : "+r"(value) : "r"(address), "r"((u32)active) : "memory");
    return (u8)value;
}

__device__ __forceinline__ void store_global_u8(u8* pointer, u8 elements, bool active) {
    const u32 value = (u32)elements;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.u8 [%0], %1; }"
                 :: "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i16x8 load_global_mut_i16x8(const i16* pointer, bool active) {
    u32 value[4] = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active ld.global.v4.b32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(value[0]), "+r"(value[1]), "+r"(value[2]), "+r"(value[3]) : "l"(pointer), "r"((u32)active) : "memory");
    i16x8 elements;
    #pragma unroll
    for (u32 i = 0; i < 8; ++i) elements.lane[i] = (i16)(value[i / 2] >> i % 2 * 16);
    return elements;
}

__device__ __forceinline__ void store_shared_i16x8(u32 address, i16x8 elements, bool active) {
    u32 value[4] = {};
    #pragma unroll
    for (u32 i = 0; i < 8; ++i) value[i / 2] |= (u32)(u16)elements.lane[i] << i % 2 * 16;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active st.volatile.shared.v4.b32 [%0], {%1, %2, %3, %4}; }"
                 :: "r"(address), "r"(value[0]), "r"(value[1]), "r"(value[2]), "r"(value[3]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i16x8 load_shared_i16x8(u32 address, bool active) {
    u32 value[4] = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active ld.volatile.shared.v4.b32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(value[0]), "+r"(value[1]), "+r"(value[2]), "+r"(value[3]) : "r"(address), "r"((u32)active) : "memory");
    i16x8 elements;
    #pragma unroll
    for (u32 i = 0; i < 8; ++i) elements.lane[i] = (i16)(value[i / 2] >> i % 2 * 16);
    return elements;
}

__device__ __forceinline__ void store_global_i16x8(i16* pointer, i16x8 elements, bool active) {
    u32 value[4] = {};
    #pragma unroll
    for (u32 i = 0; i < 8; ++i) value[i / 2] |= (u32)(u16)elements.lane[i] << i % 2 * 16;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active st.global.v4.b32 [%0], {%1, %2, %3, %4}; }"
                 :: "l"(pointer), "r"(value[0]), "r"(value[1]), "r"(value[2]), "r"(value[3]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u16 load_global_mut_u16(const u16* pointer, bool active) {
    u32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.u16 %0, [%1]; }"
                 : "+r"(value) : "l"(pointer), "r"((u32)active) : "memory");
    return (u16)value;
}

__device__ __forceinline__ void store_shared_u16(u32 address, u16 elements, bool active) {
    const u32 value = (u32)elements;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.volatile.shared.u16 [%0], %1; }"
                 :: "r"(address), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u16 load_shared_u16(u32 address, bool active) {
    u32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.volatile.shared.u16 %0, [%1]; }"
                 : "+r"(value) : "r"(address), "r"((u32)active) : "memory");
    return (u16)value;
}

__device__ __forceinline__ void store_global_u16(u16* pointer, u16 elements, bool active) {
    const u32 value = (u32)elements;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.u16 [%0], %1; }"
                 :: "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i32x4 load_global_mut_i32x4(const i32* pointer, bool active) {
    i32x4 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active ld.global.v4.s32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(value.lane[0]), "+r"(value.lane[1]), "+r"(value.lane[2]), "+r"(value.lane[3]) : "l"(pointer), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_shared_i32x4(u32 address, i32x4 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active st.volatile.shared.v4.s32 [%0], {%1, %2, %3, %4}; }"
                 :: "r"(address), "r"(value.lane[0]), "r"(value.lane[1]), "r"(value.lane[2]), "r"(value.lane[3]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i32x4 load_shared_i32x4(u32 address, bool active) {
    i32x4 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active ld.volatile.shared.v4.s32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(value.lane[0]), "+r"(value.lane[1]), "+r"(value.lane[2]), "+r"(value.lane[3]) : "r"(address), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_global_i32x4(i32* pointer, i32x4 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active st.global.v4.s32 [%0], {%1, %2, %3, %4}; }"
                 :: "l"(pointer), "r"(value.lane[0]), "r"(value.lane[1]), "r"(value.lane[2]), "r"(value.lane[3]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u32x2 load_global_mut_u32x2(const u32* pointer, bool active) {
    u32x2 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active ld.global.v2.u32 {%0, %1}, [%2]; }"
                 : "+r"(value.lane[0]), "+r"(value.lane[1]) : "l"(pointer), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_shared_u32x2(u32 address, u32x2 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active st.volatile.shared.v2.u32 [%0], {%1, %2}; }"
                 :: "r"(address), "r"(value.lane[0]), "r"(value.lane[1]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u32x2 load_shared_u32x2(u32 address, bool active) {
    u32x2 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active ld.volatile.shared.v2.u32 {%0, %1}, [%2]; }"
                 : "+r"(value.lane[0]), "+r"(value.lane[1]) : "r"(address), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_global_u32x2(u32* pointer, u32x2 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active st.global.v2.u32 [%0], {%1, %2}; }"
                 :: "l"(pointer), "r"(value.lane[0]), "r"(value.lane[1]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i64x2 load_global_mut_i64x2(const i64* pointer, bool active) {
    i64x2 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active ld.global.v2.s64 {%0, %1}, [%2]; }"
                 : "+l"(value.lane[0]), "+l"(value.lane[1]) : "l"(pointer), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_shared_i64x2(u32 address, i64x2 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active st.volatile.shared.v2.s64 [%0], {%1, %2}; }"
                 :: "r"(address), "l"(value.lane[0]), "l"(value.lane[1]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i64x2 load_shared_i64x2(u32 address, bool active) {
    i64x2 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active ld.volatile.shared.v2.s64 {%0, %1}, [%2]; }"
                 : "+l"(value.lane[0]), "+l"(value.lane[1]) : "r"(address), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_global_i64x2(i64* pointer, i64x2 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active st.global.v2.s64 [%0], {%1, %2}; }"
                 :: "l"(pointer), "l"(value.lane[0]), "l"(value.lane[1]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u64 load_global_mut_u64(const u64* pointer, bool active) {
    u64 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.u64 %0, [%1]; }"
                 : "+l"(value) : "l"(pointer), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_shared_u64(u32 address, u64 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.volatile.shared.u64 [%0], %1; }"
                 :: "r"(address), "l"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u64 load_shared_u64(u32 address, bool active) {
    u64 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.volatile.shared.u64 %0, [%1]; }"
                 : "+l"(value) : "r"(address), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_global_u64(u64* pointer, u64 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.u64 [%0], %1; }"
                 :: "l"(pointer), "l"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u64x2 load_global_mut_u64x2(const u64* pointer, bool active) {
    u64x2 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active ld.global.v2.u64 {%0, %1}, [%2]; }"
                 : "+l"(value.lane[0]), "+l"(value.lane[1]) : "l"(pointer), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_shared_u64x2(u32 address, u64x2 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active st.volatile.shared.v2.u64 [%0], {%1, %2}; }"
                 :: "r"(address), "l"(value.lane[0]), "l"(value.lane[1]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u64x2 load_shared_u64x2(u32 address, bool active) {
    u64x2 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active ld.volatile.shared.v2.u64 {%0, %1}, [%2]; }"
                 : "+l"(value.lane[0]), "+l"(value.lane[1]) : "r"(address), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_global_u64x2(u64* pointer, u64x2 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active st.global.v2.u64 [%0], {%1, %2}; }"
                 :: "l"(pointer), "l"(value.lane[0]), "l"(value.lane[1]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ f64x2 load_global_mut_f64x2(const f64* pointer, bool active) {
    f64x2 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active ld.global.v2.f64 {%0, %1}, [%2]; }"
                 : "+d"(value.lane[0]), "+d"(value.lane[1]) : "l"(pointer), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_shared_f64x2(u32 address, f64x2 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active st.volatile.shared.v2.f64 [%0], {%1, %2}; }"
                 :: "r"(address), "d"(value.lane[0]), "d"(value.lane[1]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ f64x2 load_shared_f64x2(u32 address, bool active) {
    f64x2 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active ld.volatile.shared.v2.f64 {%0, %1}, [%2]; }"
                 : "+d"(value.lane[0]), "+d"(value.lane[1]) : "r"(address), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_global_f64x2(f64* pointer, f64x2 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active st.global.v2.f64 [%0], {%1, %2}; }"
                 :: "l"(pointer), "d"(value.lane[0]), "d"(value.lane[1]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ void store_global_u8x2(u8* pointer, u8x2 elements, bool active) {
    u32 value[1] = {};
    #pragma unroll
    for (u32 i = 0; i < 2; ++i) value[i / 4] |= (u32)(u8)elements.lane[i] << i % 4 * 8;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.u16 [%0], %1; }"
                 :: "l"(pointer), "r"(value[0]), "r"((u32)active) : "memory");
}

__device__ __forceinline__ boolx4 select_boolx4(bool condition, boolx4 yes, boolx4 no) {
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) yes.lane[i] = condition ? yes.lane[i] : no.lane[i];
    return yes;
}

__device__ __forceinline__ i8x16 select_i8x16(bool condition, i8x16 yes, i8x16 no) {
    #pragma unroll
    for (u32 i = 0; i < 16; ++i) yes.lane[i] = condition ? yes.lane[i] : no.lane[i];
    return yes;
}

__device__ __forceinline__ i16x8 select_i16x8(bool condition, i16x8 yes, i16x8 no) {
    #pragma unroll
    for (u32 i = 0; i < 8; ++i) yes.lane[i] = condition ? yes.lane[i] : no.lane[i];
    return yes;
}

__device__ __forceinline__ i32x4 select_i32x4(bool condition, i32x4 yes, i32x4 no) {
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) yes.lane[i] = condition ? yes.lane[i] : no.lane[i];
    return yes;
}

__device__ __forceinline__ u32x2 select_u32x2(bool condition, u32x2 yes, u32x2 no) {
    #pragma unroll
    for (u32 i = 0; i < 2; ++i) yes.lane[i] = condition ? yes.lane[i] : no.lane[i];
    return yes;
}

__device__ __forceinline__ i64x2 select_i64x2(bool condition, i64x2 yes, i64x2 no) {
    #pragma unroll
    for (u32 i = 0; i < 2; ++i) yes.lane[i] = condition ? yes.lane[i] : no.lane[i];
    return yes;
}

__device__ __forceinline__ u64x2 select_u64x2(bool condition, u64x2 yes, u64x2 no) {
    #pragma unroll
    for (u32 i = 0; i < 2; ++i) yes.lane[i] = condition ? yes.lane[i] : no.lane[i];
    return yes;
}

__device__ __forceinline__ f64x2 select_f64x2(bool condition, f64x2 yes, f64x2 no) {
    #pragma unroll
    for (u32 i = 0; i < 2; ++i) yes.lane[i] = condition ? yes.lane[i] : no.lane[i];
    return yes;
}

__device__ __forceinline__ u8 wrapping_add_u8(u8 a, u8 b) {
    return (u8)((u32)a + (u32)b);
}

__device__ __forceinline__ u8x2 select_u8x2(bool condition, u8x2 yes, u8x2 no) {
    #pragma unroll
    for (u32 i = 0; i < 2; ++i) yes.lane[i] = condition ? yes.lane[i] : no.lane[i];
    return yes;
}

__device__ __forceinline__ u32 bool_tile_at(u32 col) {
    return col;
}

__device__ __forceinline__ u32 i8_tile_at(u32 col) {
    return col;
}

__device__ __forceinline__ u32 u8_tile_at(u32 col) {
    return col;
}

__device__ __forceinline__ u32 i16_tile_at(u32 col) {
    return col * 2;
}

__device__ __forceinline__ u32 u16_tile_at(u32 col) {
    return col * 2;
}

__device__ __forceinline__ u32 i32_tile_at(u32 col) {
    return col * 4;
}

__device__ __forceinline__ u32 u32_tile_at(u32 col) {
    return col * 4;
}

__device__ __forceinline__ u32 i64_tile_at(u32 col) {
    return col * 8;
}

__device__ __forceinline__ u32 u64_tile_at(u32 col) {
    return col * 8;
}

__device__ __forceinline__ u32 usize_tile_at(u32 col) {
    return col * 8;
}

__device__ __forceinline__ u32 f64_tile_at(u32 col) {
    return col * 8;
}

extern "C" __global__ void __launch_bounds__(32) small_vectors(
    bool condition,
    bool* __restrict__ bools, index_t bools_extent0,
    i8* __restrict__ i8s, index_t i8s_extent0,
    u8* __restrict__ u8s, index_t u8s_extent0,
    i16* __restrict__ i16s, index_t i16s_extent0,
    u16* __restrict__ u16s, index_t u16s_extent0,
    i32* __restrict__ i32s, index_t i32s_extent0,
    u32* __restrict__ u32s, index_t u32s_extent0,
    i64* __restrict__ i64s, index_t i64s_extent0,
    u64* __restrict__ u64s, index_t u64s_extent0,
    u64* __restrict__ usizes, index_t usizes_extent0,
    f64* __restrict__ f64s, index_t f64s_extent0,
    u8* __restrict__ bytes, index_t bytes_extent0) {
    __shared__ alignas(16) bool bool_tile[128];
    const u32 bool_tile_base = shared_address(bool_tile);
    __shared__ alignas(16) i8 i8_tile[512];
    const u32 i8_tile_base = shared_address(i8_tile);
    __shared__ alignas(16) u8 u8_tile[32];
    const u32 u8_tile_base = shared_address(u8_tile);
    __shared__ alignas(16) i16 i16_tile[256];
    const u32 i16_tile_base = shared_address(i16_tile);
    __shared__ alignas(16) u16 u16_tile[32];
    const u32 u16_tile_base = shared_address(u16_tile);
    __shared__ alignas(16) i32 i32_tile[128];
    const u32 i32_tile_base = shared_address(i32_tile);
    __shared__ alignas(16) u32 u32_tile[64];
    const u32 u32_tile_base = shared_address(u32_tile);
    __shared__ alignas(16) i64 i64_tile[64];
    const u32 i64_tile_base = shared_address(i64_tile);
    __shared__ alignas(16) u64 u64_tile[32];
    const u32 u64_tile_base = shared_address(u64_tile);
    __shared__ alignas(16) u64 usize_tile[64];
    const u32 usize_tile_base = shared_address(usize_tile);
    __shared__ alignas(16) f64 f64_tile[64];
    const u32 f64_tile_base = shared_address(f64_tile);
    const index_t thread_x = threadIdx.x;
    const boolx4 value = load_global_mut_boolx4(&bools[thread_x * 4], true);
    store_shared_boolx4(bool_tile_base + bool_tile_at(thread_x * 4), value, true);
    const boolx4 back = load_shared_boolx4(bool_tile_base + bool_tile_at(thread_x * 4), true);
    store_global_boolx4(&bools[thread_x * 4], select_boolx4(condition, value, back), true);
    const i8x16 value_1 = load_global_mut_i8x16(&i8s[thread_x * 16], true);
    store_shared_i8x16(i8_tile_base + i8_tile_at(thread_x * 16), value_1, true);
    const i8x16 back_1 = load_shared_i8x16(i8_tile_base + i8_tile_at(thread_x * 16), true);
    store_global_i8x16(&i8s[thread_x * 16], select_i8x16(condition, value_1, back_1), true);
    const u8 value_2 = load_global_mut_u8(&u8s[thread_x * 1], true);
    store_shared_u8(u8_tile_base + u8_tile_at(thread_x * 1), value_2, true);
    const u8 back_2 = load_shared_u8(u8_tile_base + u8_tile_at(thread_x * 1), true);
    store_global_u8(&u8s[thread_x * 1], condition ? value_2 : back_2, true);
    const i16x8 value_3 = load_global_mut_i16x8(&i16s[thread_x * 8], true);
    store_shared_i16x8(i16_tile_base + i16_tile_at(thread_x * 8), value_3, true);
    const i16x8 back_3 = load_shared_i16x8(i16_tile_base + i16_tile_at(thread_x * 8), true);
    store_global_i16x8(&i16s[thread_x * 8], select_i16x8(condition, value_3, back_3), true);
    const u16 value_4 = load_global_mut_u16(&u16s[thread_x * 1], true);
    store_shared_u16(u16_tile_base + u16_tile_at(thread_x * 1), value_4, true);
    const u16 back_4 = load_shared_u16(u16_tile_base + u16_tile_at(thread_x * 1), true);
    store_global_u16(&u16s[thread_x * 1], condition ? value_4 : back_4, true);
    const i32x4 value_5 = load_global_mut_i32x4(&i32s[thread_x * 4], true);
    store_shared_i32x4(i32_tile_base + i32_tile_at(thread_x * 4), value_5, true);
    const i32x4 back_5 = load_shared_i32x4(i32_tile_base + i32_tile_at(thread_x * 4), true);
    store_global_i32x4(&i32s[thread_x * 4], select_i32x4(condition, value_5, back_5), true);
    const u32x2 value_6 = load_global_mut_u32x2(&u32s[thread_x * 2], true);
    store_shared_u32x2(u32_tile_base + u32_tile_at(thread_x * 2), value_6, true);
    const u32x2 back_6 = load_shared_u32x2(u32_tile_base + u32_tile_at(thread_x * 2), true);
    store_global_u32x2(&u32s[thread_x * 2], select_u32x2(condition, value_6, back_6), true);
    const i64x2 value_7 = load_global_mut_i64x2(&i64s[thread_x * 2], true);
    store_shared_i64x2(i64_tile_base + i64_tile_at(thread_x * 2), value_7, true);
    const i64x2 back_7 = load_shared_i64x2(i64_tile_base + i64_tile_at(thread_x * 2), true);
    store_global_i64x2(&i64s[thread_x * 2], select_i64x2(condition, value_7, back_7), true);
    const u64 value_8 = load_global_mut_u64(&u64s[thread_x * 1], true);
    store_shared_u64(u64_tile_base + u64_tile_at(thread_x * 1), value_8, true);
    const u64 back_8 = load_shared_u64(u64_tile_base + u64_tile_at(thread_x * 1), true);
    store_global_u64(&u64s[thread_x * 1], condition ? value_8 : back_8, true);
    const u64x2 value_9 = load_global_mut_u64x2(&usizes[thread_x * 2], true);
    store_shared_u64x2(usize_tile_base + usize_tile_at(thread_x * 2), value_9, true);
    const u64x2 back_9 = load_shared_u64x2(usize_tile_base + usize_tile_at(thread_x * 2), true);
    store_global_u64x2(&usizes[thread_x * 2], select_u64x2(condition, value_9, back_9), true);
    const f64x2 value_10 = load_global_mut_f64x2(&f64s[thread_x * 2], true);
    store_shared_f64x2(f64_tile_base + f64_tile_at(thread_x * 2), value_10, true);
    const f64x2 back_10 = load_shared_f64x2(f64_tile_base + f64_tile_at(thread_x * 2), true);
    store_global_f64x2(&f64s[thread_x * 2], select_f64x2(condition, value_10, back_10), true);
    const u8 byte = load_global_mut_u8(&bytes[thread_x], true);
    u8x2 pair = u8x2{{(u8)(byte & 200), 200}};
    const bool active = condition;
    const bool inactive = !active;
    pair.lane[1] = active ? wrapping_add_u8(byte, 200) : pair.lane[1];
    pair = select_u8x2(inactive, u8x2{{(u8)(byte & 200), 200}}, pair);
    store_global_u8x2(&bytes[thread_x], pair, true);
}
