// casts_f32: blocks of 32 x 1 x 1 = 32 threads

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

__device__ __forceinline__ f32 load_global_f32(const f32* pointer, bool active) {
    f32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.f32 %0, [%1]; }"
                 : "+f"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ void store_global_i8(i8* pointer, i8 elements, bool active) {
    const u32 value = (u32)elements;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.u8 [%0], %1; }"
                 :: "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ void store_global_i16(i16* pointer, i16 elements, bool active) {
    const u32 value = (u32)elements;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.u16 [%0], %1; }"
                 :: "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ void store_global_i32(i32* pointer, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.s32 [%0], %1; }"
                 :: "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ void store_global_i64(i64* pointer, i64 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.s64 [%0], %1; }"
                 :: "l"(pointer), "l"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ void store_global_u8(u8* pointer, u8 elements, bool active) {
    const u32 value = (u32)elements;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.u8 [%0], %1; }"
                 :: "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ void store_global_u16(u16* pointer, u16 elements, bool active) {
    const u32 value = (u32)elements;
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.u16 [%0], %1; }"
                 :: "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ void store_global_u32(u32* pointer, u32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.u32 [%0], %1; }"
                 :: "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ void store_global_u64(u64* pointer, u64 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.u64 [%0], %1; }"
                 :: "l"(pointer), "l"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ void store_global_f32(f32* pointer, f32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.f32 [%0], %1; }"
                 :: "l"(pointer), "f"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ void store_global_f64(f64* pointer, f64 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.f64 [%0], %1; }"
                 :: "l"(pointer), "d"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i8 cast_f32_i8(f32 a) {
    return a != a ? (i8)0 : a <= -0x1p+7f ? (i8)-128 : a >= 0x1p+7f ? (i8)127 : (i8)a;
}

__device__ __forceinline__ i16 cast_f32_i16(f32 a) {
    return a != a ? (i16)0 : a <= -0x1p+15f ? (i16)-32768 : a >= 0x1p+15f ? (i16)32767 : (i16)a;
}

__device__ __forceinline__ i32 cast_f32_i32(f32 a) {
    return a != a ? (i32)0 : a <= -0x1p+31f ? (i32)(-2147483647 - 1) : a >= 0x1p+31f ? (i32)2147483647 : (i32)a;
}

__device__ __forceinline__ i64 cast_f32_i64(f32 a) {
    return a != a ? (i64)0 : a <= -0x1p+63f ? (i64)(-9223372036854775807ll - 1) : a >= 0x1p+63f ? (i64)9223372036854775807ll : (i64)a;
}

__device__ __forceinline__ u8 cast_f32_u8(f32 a) {
    return a != a ? (u8)0 : a <= 0.0f ? (u8)0 : a >= 0x1p+8f ? (u8)255 : (u8)a;
}

__device__ __forceinline__ u16 cast_f32_u16(f32 a) {
    return a != a ? (u16)0 : a <= 0.0f ? (u16)0 : a >= 0x1p+16f ? (u16)65535 : (u16)a;
}

__device__ __forceinline__ u32 cast_f32_u32(f32 a) {
    return a != a ? (u32)0 : a <= 0.0f ? (u32)0u : a >= 0x1p+32f ? (u32)4294967295u : (u32)a;
}

__device__ __forceinline__ u64 cast_f32_u64(f32 a) {
    return a != a ? (u64)0 : a <= 0.0f ? (u64)0ull : a >= 0x1p+64f ? (u64)18446744073709551615ull : (u64)a;
}

extern "C" __global__ void __launch_bounds__(32) casts_f32(
    const f32* __restrict__ input, index_t input_extent0,
    i8* __restrict__ to_i8, index_t to_i8_extent0,
    i16* __restrict__ to_i16, index_t to_i16_extent0,
    i32* __restrict__ to_i32, index_t to_i32_extent0,
    i64* __restrict__ to_i64, index_t to_i64_extent0,
    u8* __restrict__ to_u8, index_t to_u8_extent0,
    u16* __restrict__ to_u16, index_t to_u16_extent0,
    u32* __restrict__ to_u32, index_t to_u32_extent0,
    u64* __restrict__ to_u64, index_t to_u64_extent0,
    u64* __restrict__ to_usize, index_t to_usize_extent0,
    f32* __restrict__ to_f32, index_t to_f32_extent0,
    f64* __restrict__ to_f64, index_t to_f64_extent0) {
    const index_t thread_x = threadIdx.x;
    const index_t block_x = blockIdx.x;
    const index_t i = block_x * 32 + thread_x;
    const bool active = i < input_extent0;
    const f32 value = load_global_f32(&input[i], active);
    store_global_i8(&to_i8[i], cast_f32_i8(value), active);
    store_global_i16(&to_i16[i], cast_f32_i16(value), active);
    store_global_i32(&to_i32[i], cast_f32_i32(value), active);
    store_global_i64(&to_i64[i], cast_f32_i64(value), active);
    store_global_u8(&to_u8[i], cast_f32_u8(value), active);
    store_global_u16(&to_u16[i], cast_f32_u16(value), active);
    store_global_u32(&to_u32[i], cast_f32_u32(value), active);
    store_global_u64(&to_u64[i], cast_f32_u64(value), active);
    store_global_u64(&to_usize[i], (index_t)cast_f32_u64(value), active);
    store_global_f32(&to_f32[i], value, active);
    store_global_f64(&to_f64[i], (f64)value, active);
}
