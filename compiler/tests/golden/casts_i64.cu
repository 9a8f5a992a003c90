// casts_i64: blocks of 32 x 1 x 1 = 32 threads

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
typedef unsigned long long index_t;

__device__ __forceinline__ i16 narrow_i16(u32 a) {
    i16 result;
    asm("cvt.u16.u32 %0, %1;" : "=h"(result) : "r"(a));
    return result;
}

__device__ __forceinline__ u16 narrow_u16(u32 a) {
    u16 result;
    asm("cvt.u16.u32 %0, %1;" : "=h"(result) : "r"(a));
    return result;
}

__device__ __forceinline__ i64 load_global_i64(const i64* pointer, bool active) {
    i64 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.s64 %0, [%1]; }"
                 : "+l"(value) : "l"(pointer), "r"((u32)active));
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

extern "C" __global__ void __launch_bounds__(32) casts_i64(
    const i64* __restrict__ input, index_t input_extent0,
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
    const i64 value = load_global_i64(&input[i], active);
    store_global_i8(&to_i8[i], (i8)value, active);
    store_global_i16(&to_i16[i], narrow_i16((u32)value), active);
    store_global_i32(&to_i32[i], (i32)value, active);
    store_global_i64(&to_i64[i], value, active);
    store_global_u8(&to_u8[i], (u8)value, active);
    store_global_u16(&to_u16[i], narrow_u16((u32)value), active);
    store_global_u32(&to_u32[i], (u32)value, active);
    store_global_u64(&to_u64[i], (u64)value, active);
    store_global_u64(&to_usize[i], (index_t)value, active);
    store_global_f32(&to_f32[i], (f32)value, active);
    store_global_f64(&to_f64[i], (f64)value, active);
}
