// unaligned: blocks of 32 x 1 x 1 = 32 threads

typedef signed char i8;
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

struct alignas(2) f16 { u16 bits; };

struct alignas(16) f32x4 { f32 lane[4]; };

struct alignas(16) u32x4 { u32 lane[4]; };

struct alignas(16) f64x2 { f64 lane[2]; };

struct alignas(16) u8x16 { u8 lane[16]; };

struct alignas(16) f32x16 { f32 lane[16]; };

struct alignas(4) i8x4 { i8 lane[4]; };

struct alignas(8) f16x4 { f16 lane[4]; };

struct alignas(8) u32x2 { u32 lane[2]; };

struct alignas(8) f32x2 { f32 lane[2]; };

__device__ __forceinline__ bool aligned_inside_f32x4(const f32* pointer, const f32* start, u64 elements) {
    const u64 first = (u64)pointer & ~15ull;
    const u64 last = ((u64)pointer + 12) & ~15ull;
    return (u64)start <= first && last + 16 <= (u64)(start + elements);
}

__device__ __forceinline__ bool aligned_inside_f64x2(const f64* pointer, const f64* start, u64 elements) {
    const u64 first = (u64)pointer & ~15ull;
    const u64 last = ((u64)pointer + 8) & ~15ull;
    return (u64)start <= first && last + 16 <= (u64)(start + elements);
}

__device__ __forceinline__ bool aligned_inside_u8x16(const u8* pointer, const u8* start, u64 elements) {
    const u64 first = (u64)pointer & ~15ull;
    const u64 last = ((u64)pointer + 15) & ~15ull;
    return (u64)start <= first && last + 16 <= (u64)(start + elements);
}

__device__ __forceinline__ bool aligned_inside_i8x4(const i8* pointer, const i8* start, u64 elements) {
    const u64 first = (u64)pointer & ~3ull;
    const u64 last = ((u64)pointer + 3) & ~3ull;
    return (u64)start <= first && last + 4 <= (u64)(start + elements);
}

__device__ __forceinline__ bool aligned_inside_f16x4(const f16* pointer, const f16* start, u64 elements) {
    const u64 first = (u64)pointer & ~7ull;
    const u64 last = ((u64)pointer + 6) & ~7ull;
    return (u64)start <= first && last + 8 <= (u64)(start + elements);
}

__device__ __forceinline__ u32x4 load_global_mut_u32x4(const u32* pointer, bool active) {
    u32x4 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active ld.global.v4.u32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(value.lane[0]), "+r"(value.lane[1]), "+r"(value.lane[2]), "+r"(value.lane[3]) : "l"(pointer), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ f32 load_global_mut_f32(const f32* pointer, bool active) {
    f32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.f32 %0, [%1]; }"
                 : "+f"(value) : "l"(pointer), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ u32x4 load_global_u32x4(const u32* pointer, bool active) {
    u32x4 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %5, 0; @active ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(value.lane[0]), "+r"(value.lane[1]), "+r"(value.lane[2]), "+r"(value.lane[3]) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ f64 load_global_f64(const f64* pointer, bool active) {
    f64 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.f64 %0, [%1]; }"
                 : "+d"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ u8 load_global_u8(const u8* pointer, bool active) {
    u32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.u8 %0, [%1]; }"
                 : "+r"(value) : "l"(pointer), "r"((u32)active));
    return (u8)value;
}

__device__ __forceinline__ u32 load_global_u32(const u32* pointer, bool active) {
    u32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.u32 %0, [%1]; }"
                 : "+r"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ i8 load_global_i8(const i8* pointer, bool active) {
    u32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.u8 %0, [%1]; }"
                 : "+r"(value) : "l"(pointer), "r"((u32)active));
    return (i8)value;
}

__device__ __forceinline__ u32x2 load_global_u32x2(const u32* pointer, bool active) {
    u32x2 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active ld.global.nc.v2.u32 {%0, %1}, [%2]; }"
                 : "+r"(value.lane[0]), "+r"(value.lane[1]) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ f16 load_global_f16(const f16* pointer, bool active) {
    u32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.u16 %0, [%1]; }"
                 : "+r"(value) : "l"(pointer), "r"((u32)active));
    return f16{(u16)value};
}

__device__ __forceinline__ void store_global_f32(f32* pointer, f32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.f32 [%0], %1; }"
                 :: "l"(pointer), "f"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ f32x4 load_unaligned_global_mut_f32x4(const f32* pointer, bool active) {
    const u64 first = (u64)pointer & ~15ull;
    const u64 last = ((u64)pointer + 12) & ~15ull;
    const u32x4 low = load_global_mut_u32x4((const u32*)first, active);
    const u32x4 high = load_global_mut_u32x4((const u32*)last, active && last != first);
    const u32 shift = (u32)(u64)pointer & 15;
    u32 word[8] = {low.lane[0], low.lane[1], low.lane[2], low.lane[3], high.lane[0], high.lane[1], high.lane[2], high.lane[3]};
    #pragma unroll
    for (u32 i = 0; i < 5; ++i) word[i] = shift & 8 ? word[i + 2] : word[i];
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) word[i] = shift & 4 ? word[i + 1] : word[i];
    f32x4 elements;
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) elements.lane[i] = __uint_as_float(word[i]);
    return elements;
}

__device__ __forceinline__ f64x2 load_unaligned_global_f64x2(const f64* pointer, bool active) {
    const u64 first = (u64)pointer & ~15ull;
    const u64 last = ((u64)pointer + 8) & ~15ull;
    const u32x4 low = load_global_u32x4((const u32*)first, active);
    const u32x4 high = load_global_u32x4((const u32*)last, active && last != first);
    const u32 shift = (u32)(u64)pointer & 15;
    u32 word[8] = {low.lane[0], low.lane[1], low.lane[2], low.lane[3], high.lane[0], high.lane[1], high.lane[2], high.lane[3]};
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) word[i] = shift & 8 ? word[i + 2] : word[i];
    f64x2 elements;
    #pragma unroll
    for (u32 i = 0; i < 2; ++i) elements.lane[i] = __longlong_as_double((long long)((u64)word[2 * i + 1] << 32 | word[2 * i]));
    return elements;
}

__device__ __forceinline__ u8x16 load_unaligned_global_u8x16(const u8* pointer, bool active) {
    const u64 first = (u64)pointer & ~15ull;
    const u64 last = ((u64)pointer + 15) & ~15ull;
    const u32x4 low = load_global_u32x4((const u32*)first, active);
    const u32x4 high = load_global_u32x4((const u32*)last, active && last != first);
    const u32 shift = (u32)(u64)pointer & 15;
    u32 word[8] = {low.lane[0], low.lane[1], low.lane[2], low.lane[3], high.lane[0], high.lane[1], high.lane[2], high.lane[3]};
    #pragma unroll
    for (u32 i = 0; i < 6; ++i) word[i] = shift & 8 ? word[i + 2] : word[i];
    #pragma unroll
    for (u32 i = 0; i < 5; ++i) word[i] = shift & 4 ? word[i + 1] : word[i];
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) word[i] = __funnelshift_r(word[i], word[i + 1], shift % 4 * 8);
    u8x16 elements;
    #pragma unroll
    for (u32 i = 0; i < 16; ++i) elements.lane[i] = (u8)(word[i / 4] >> i % 4 * 8);
    return elements;
}

__device__ __forceinline__ i8x4 load_unaligned_global_i8x4(const i8* pointer, bool active) {
    const u64 first = (u64)pointer & ~3ull;
    const u64 last = ((u64)pointer + 3) & ~3ull;
    const u32 low = load_global_u32((const u32*)first, active);
    const u32 high = load_global_u32((const u32*)last, active && last != first);
    const u32 shift = (u32)(u64)pointer & 3;
    u32 word[2] = {low, high};
    #pragma unroll
    for (u32 i = 0; i < 1; ++i) word[i] = __funnelshift_r(word[i], word[i + 1], shift % 4 * 8);
    i8x4 elements;
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) elements.lane[i] = (i8)(word[i / 4] >> i % 4 * 8);
    return elements;
}

__device__ __forceinline__ f16x4 load_unaligned_global_f16x4(const f16* pointer, bool active) {
    const u64 first = (u64)pointer & ~7ull;
    const u64 last = ((u64)pointer + 6) & ~7ull;
    const u32x2 low = load_global_u32x2((const u32*)first, active);
    const u32x2 high = load_global_u32x2((const u32*)last, active && last != first);
    const u32 shift = (u32)(u64)pointer & 7;
    u32 word[4] = {low.lane[0], low.lane[1], high.lane[0], high.lane[1]};
    #pragma unroll
    for (u32 i = 0; i < 3; ++i) word[i] = shift & 4 ? word[i + 1] : word[i];
    #pragma unroll
    for (u32 i = 0; i < 2; ++i) word[i] = __funnelshift_r(word[i], word[i + 1], shift % 4 * 8);
    f16x4 elements;
    #pragma unroll
    for (u32 i = 0; i < 4; ++i) elements.lane[i] = f16{(u16)(word[i / 2] >> i % 2 * 16)};
    return elements;
}

__device__ __forceinline__ f32 cast_f16_f32(f16 a) {
    f32 result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(a.bits));
    return result;
}

extern "C" __global__ void __launch_bounds__(32) unaligned(
    const u8* __restrict__ bytes, index_t bytes_rows, index_t bytes_cols, index_t bytes_pitch,
    const i8* __restrict__ signs, index_t signs_extent0,
    const f16* __restrict__ halves, index_t halves_extent0, index_t halves_extent1, index_t halves_extent2, index_t halves_stride0, index_t halves_stride1,
    f32* __restrict__ floats, index_t floats_extent0,
    const f64* __restrict__ doubles, index_t doubles_extent0,
    f32* __restrict__ output, index_t output_extent0) {
    const index_t thread_x = threadIdx.x;
    const index_t block_x = blockIdx.x;
    const index_t i = block_x * 32 + thread_x;
    if (i < output_extent0) {
        const index_t operand = 4 * i;
        const bool floats_whole = aligned_inside_f32x4(&floats[operand], floats, floats_extent0);
        f32x4 floats_value = load_unaligned_global_mut_f32x4(&floats[operand], floats_whole);
        if (!floats_whole) {
            #pragma unroll
            for (index_t lane = 0; lane < 4; lane += 1) {
                const f32 floats_value_1 = load_global_mut_f32(&floats[operand + lane], true);
                floats_value.lane[lane] = floats_value_1;
            }
        }
        const f32x4 floats_1 = floats_value;
        const index_t operand_1 = 2 * i;
        const bool doubles_whole = aligned_inside_f64x2(&doubles[operand_1], doubles, doubles_extent0);
        f64x2 doubles_value = load_unaligned_global_f64x2(&doubles[operand_1], doubles_whole);
        if (!doubles_whole) {
            #pragma unroll
            for (index_t lane_1 = 0; lane_1 < 2; lane_1 += 1) {
                const f64 doubles_value_1 = load_global_f64(&doubles[operand_1 + lane_1], true);
                doubles_value.lane[lane_1] = doubles_value_1;
            }
        }
        const f64x2 doubles_1 = doubles_value;
        const bool bytes_whole = aligned_inside_u8x16(&bytes[0 * bytes_pitch + thread_x], bytes, (bytes_rows - 1) * bytes_pitch + bytes_cols);
        u8x16 bytes_value = load_unaligned_global_u8x16(&bytes[0 * bytes_pitch + thread_x], bytes_whole);
        if (!bytes_whole) {
            #pragma unroll
            for (index_t lane_2 = 0; lane_2 < 16; lane_2 += 1) {
                const u8 bytes_value_1 = load_global_u8(&bytes[0 * bytes_pitch + (thread_x + lane_2)], true);
                bytes_value.lane[lane_2] = bytes_value_1;
            }
        }
        const f32x16 bytes_1 = f32x16{{(f32)bytes_value.lane[0], (f32)bytes_value.lane[1], (f32)bytes_value.lane[2], (f32)bytes_value.lane[3], (f32)bytes_value.lane[4], (f32)bytes_value.lane[5], (f32)bytes_value.lane[6], (f32)bytes_value.lane[7], (f32)bytes_value.lane[8], (f32)bytes_value.lane[9], (f32)bytes_value.lane[10], (f32)bytes_value.lane[11], (f32)bytes_value.lane[12], (f32)bytes_value.lane[13], (f32)bytes_value.lane[14], (f32)bytes_value.lane[15]}};
        const bool signs_whole = aligned_inside_i8x4(&signs[thread_x], signs, signs_extent0);
        i8x4 signs_value = load_unaligned_global_i8x4(&signs[thread_x], signs_whole);
        if (!signs_whole) {
            #pragma unroll
            for (index_t lane_3 = 0; lane_3 < 4; lane_3 += 1) {
                const i8 signs_value_1 = load_global_i8(&signs[thread_x + lane_3], true);
                signs_value.lane[lane_3] = signs_value_1;
            }
        }
        const f32x4 signs_1 = f32x4{{(f32)signs_value.lane[0], (f32)signs_value.lane[1], (f32)signs_value.lane[2], (f32)signs_value.lane[3]}};
        const bool halves_whole = aligned_inside_f16x4(&halves[0 * halves_stride0 + 0 * halves_stride1 + 0], halves, (halves_extent0 - 1) * halves_stride0 + (halves_extent1 - 1) * halves_stride1 + halves_extent2);
        f16x4 halves_value = load_unaligned_global_f16x4(&halves[0 * halves_stride0 + 0 * halves_stride1 + 0], halves_whole);
        if (!halves_whole) {
            #pragma unroll
            for (index_t lane_4 = 0; lane_4 < 4; lane_4 += 1) {
                const f16 halves_value_1 = load_global_f16(&halves[0 * halves_stride0 + 0 * halves_stride1 + (0 + lane_4)], true);
                halves_value.lane[lane_4] = halves_value_1;
            }
        }
        const f32x4 halves_1 = f32x4{{cast_f16_f32(halves_value.lane[0]), cast_f16_f32(halves_value.lane[1]), cast_f16_f32(halves_value.lane[2]), cast_f16_f32(halves_value.lane[3])}};
        const f32x2 operand_2 = f32x2{{(f32)doubles_1.lane[0], (f32)doubles_1.lane[1]}};
        store_global_f32(&output[i], floats_1.lane[0] + floats_1.lane[1] + floats_1.lane[2] + floats_1.lane[3] + (operand_2.lane[0] + operand_2.lane[1]) + (bytes_1.lane[0] + bytes_1.lane[1] + bytes_1.lane[2] + bytes_1.lane[3] + bytes_1.lane[4] + bytes_1.lane[5] + bytes_1.lane[6] + bytes_1.lane[7] + bytes_1.lane[8] + bytes_1.lane[9] + bytes_1.lane[10] + bytes_1.lane[11] + bytes_1.lane[12] + bytes_1.lane[13] + bytes_1.lane[14] + bytes_1.lane[15]) + (signs_1.lane[0] + signs_1.lane[1] + signs_1.lane[2] + signs_1.lane[3]) + (halves_1.lane[0] + halves_1.lane[1] + halves_1.lane[2] + halves_1.lane[3]), true);
    }
}
