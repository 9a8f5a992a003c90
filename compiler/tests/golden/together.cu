// together: blocks of 10 x 8 x 1 = 80 threads

typedef signed char i8;
typedef short i16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

struct alignas(16) f64x2 { f64 lane[2]; };

__device__ __forceinline__ f64 load_global_f64(const f64* pointer, bool active) {
    f64 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.f64 %0, [%1]; }"
                 : "+d"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ f64x2 load_global_f64x2(const f64* pointer, bool active) {
    f64x2 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active ld.global.nc.v2.f64 {%0, %1}, [%2]; }"
                 : "+d"(value.lane[0]), "+d"(value.lane[1]) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ void store_global_f64(f64* pointer, f64 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.f64 [%0], %1; }"
                 :: "l"(pointer), "d"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u32 shuffle_xor_word(u32 value, u32 by, u32 members) {
    asm volatile("shfl.sync.bfly.b32 %0, %0, %1, %2, %3;" : "+r"(value) : "r"(by), "r"(31u - (u32)__clz((int)members)), "r"(members));
    return value;
}

__device__ __forceinline__ u32 shuffle_word(u32 value, u32 by, u32 members) {
    asm volatile("shfl.sync.idx.b32 %0, %0, %1, %2, %3;" : "+r"(value) : "r"(by), "r"(31u - (u32)__clz((int)members)), "r"(members));
    return value;
}

__device__ __forceinline__ u32 shuffle_down_word(u32 value, u32 by, u32 members) {
    asm volatile("shfl.sync.down.b32 %0, %0, %1, %2, %3;" : "+r"(value) : "r"(by), "r"(31u - (u32)__clz((int)members)), "r"(members));
    return value;
}

__device__ __forceinline__ bool warp_any(bool condition, u32 members) {
    u32 result;
    asm volatile("{ .reg .pred holds; setp.ne.u32 holds, %1, 0; vote.sync.any.pred holds, holds, %2; selp.u32 %0, 1, 0, holds; }"
                 : "=r"(result) : "r"((u32)condition), "r"(members));
    return result != 0;
}

__device__ __forceinline__ bool warp_all(bool condition, u32 members) {
    u32 result;
    asm volatile("{ .reg .pred holds; setp.ne.u32 holds, %1, 0; vote.sync.all.pred holds, holds, %2; selp.u32 %0, 1, 0, holds; }"
                 : "=r"(result) : "r"((u32)condition), "r"(members));
    return result != 0;
}

__device__ __forceinline__ u32 shuffle_up_word(u32 value, u32 by, u32 members) {
    asm volatile("shfl.sync.up.b32 %0, %0, %1, %2, %3;" : "+r"(value) : "r"(by), "r"(0u), "r"(members));
    return value;
}

__device__ __forceinline__ u32 warp_ballot(bool condition, u32 members) {
    u32 result;
    asm volatile("{ .reg .pred holds; setp.ne.u32 holds, %1, 0; vote.sync.ballot.b32 %0, holds, %2; }"
                 : "=r"(result) : "r"((u32)condition), "r"(members));
    return result;
}

__device__ __forceinline__ u32 match_any_f64(f64 value, u32 members) {
    u32 result;
    asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(result) : "d"(value), "r"(members));
    return result;
}

__device__ __forceinline__ u32 match_any_i16(i16 value, u32 members) {
    u32 result;
    asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(result) : "r"((u32)value), "r"(members));
    return result;
}

__device__ __forceinline__ u32 match_any_usize(index_t value, u32 members) {
    u32 result;
    asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(result) : "l"((u64)value), "r"(members));
    return result;
}

__device__ __forceinline__ u32 block_count(bool condition) {
    u32 result;
    asm volatile("{ .reg .pred holds; setp.ne.u32 holds, %1, 0; bar.red.popc.u32 %0, 0, holds; }"
                 : "=r"(result) : "r"((u32)condition) : "memory");
    return result;
}

__device__ __forceinline__ bool block_any(bool condition) {
    u32 result;
    asm volatile("{ .reg .pred holds; setp.ne.u32 holds, %1, 0; bar.red.or.pred holds, 0, holds; selp.u32 %0, 1, 0, holds; }"
                 : "=r"(result) : "r"((u32)condition) : "memory");
    return result != 0;
}

__device__ __forceinline__ bool block_all(bool condition) {
    u32 result;
    asm volatile("{ .reg .pred holds; setp.ne.u32 holds, %1, 0; bar.red.and.pred holds, 0, holds; selp.u32 %0, 1, 0, holds; }"
                 : "=r"(result) : "r"((u32)condition) : "memory");
    return result != 0;
}

__device__ __forceinline__ f64 shuffle_xor_f64(f64 value, u32 by, u32 members) {
    u32 low, high;
    asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "d"(value));
    low = shuffle_xor_word(low, by, members);
    high = shuffle_xor_word(high, by, members);
    asm("mov.b64 %0, {%1, %2};" : "=d"(value) : "r"(low), "r"(high));
    return value;
}

__device__ __forceinline__ f64 shuffle_f64(f64 value, u32 by, u32 members) {
    u32 low, high;
    asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "d"(value));
    low = shuffle_word(low, by, members);
    high = shuffle_word(high, by, members);
    asm("mov.b64 %0, {%1, %2};" : "=d"(value) : "r"(low), "r"(high));
    return value;
}

__device__ __forceinline__ f32 shuffle_down_f32(f32 value, u32 by, u32 members) {
    u32 bits;
    asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(value));
    bits = shuffle_down_word(bits, by, members);
    asm("mov.b32 %0, %1;" : "=f"(value) : "r"(bits));
    return value;
}

__device__ __forceinline__ index_t shuffle_up_usize(index_t value, u32 by, u32 members) {
    const u32 low = shuffle_up_word((u32)value, by, members);
    const u32 high = sizeof(index_t) == 8 ? shuffle_up_word((u32)((u64)value >> 32), by, members) : 0;
    return (index_t)((u64)high << 32 | low);
}

__device__ __forceinline__ i8 shuffle_up_i8(i8 value, u32 by, u32 members) {
    return (i8)shuffle_up_word((u32)value, by, members);
}

__device__ __forceinline__ u64 shuffle_up_u64(u64 value, u32 by, u32 members) {
    const u32 low = shuffle_up_word((u32)value, by, members);
    const u32 high = shuffle_up_word((u32)((u64)value >> 32), by, members);
    return (u64)((u64)high << 32 | low);
}

__device__ __forceinline__ bool shuffle_xor_bool(bool value, u32 by, u32 members) {
    return shuffle_xor_word((u32)value, by, members) != 0;
}

__device__ __forceinline__ f64x2 shuffle_f64x2(f64x2 value, u32 by, u32 members) {
    #pragma unroll
    for (u32 i = 0; i < 2; ++i) value.lane[i] = shuffle_f64(value.lane[i], by, members);
    return value;
}

__device__ __forceinline__ i8 cast_f64_i8(f64 a) {
    return a != a ? (i8)0 : a <= -0x1p+7 ? (i8)-128 : a >= 0x1p+7 ? (i8)127 : (i8)a;
}

__device__ __forceinline__ u64 cast_f64_u64(f64 a) {
    return a != a ? (u64)0 : a <= 0.0 ? (u64)0ull : a >= 0x1p+64 ? (u64)18446744073709551615ull : (u64)a;
}

__device__ __forceinline__ i16 cast_f64_i16(f64 a) {
    return a != a ? (i16)0 : a <= -0x1p+15 ? (i16)-32768 : a >= 0x1p+15 ? (i16)32767 : (i16)a;
}

extern "C" __global__ void __launch_bounds__(80) together(
    const f64* __restrict__ input, index_t input_extent0,
    f64* __restrict__ output, index_t output_extent0) {
    const index_t thread_x = threadIdx.x;
    const index_t thread_y = threadIdx.y;
    const u32 members = thread_y * 10 + thread_x < 64 ? 0xffffffffu : 0xffffu;
    const index_t i = thread_y * 10 + thread_x;
    const f64 input_value = load_global_f64(&input[i], true);
    const f64 a = input_value;
    const f64x2 input_value_1 = load_global_f64x2(&input[2 * i], true);
    const f64x2 b = input_value_1;
    const f64 shuffled = shuffle_xor_f64(a, (u32)16, members);
    const f64x2 shuffled_1 = shuffle_f64x2(b, (u32)(i % 4), members);
    const f32 shuffled_2 = shuffle_down_f32((f32)a, (u32)2, members);
    f64 sum = shuffled + shuffled_1.lane[1] + (f64)shuffled_2;
    __syncwarp(members);
    const bool is_any = warp_any(a > 0.5, members);
    bool condition = is_any;
    if (condition) {
        const bool is_all = warp_all(i < 3, members);
        condition = is_all;
    }
    if (condition) {
        const index_t shuffled_3 = shuffle_up_usize((thread_y * 10 + thread_x) / 32, (u32)((thread_y * 10 + thread_x) % 32), members);
        const i8 shuffled_4 = shuffle_up_i8(cast_f64_i8(a), (u32)1, members);
        const u64 shuffled_5 = shuffle_up_u64(cast_f64_u64(a), (u32)1, members);
        sum = sum + ((f64)shuffled_3 + (f64)shuffled_4 + (f64)shuffled_5);
    }
    const bool shuffled_6 = shuffle_xor_bool(a < 1.0, (u32)1, members);
    const u32 ballot = warp_ballot(shuffled_6, members);
    const u32 matching = match_any_f64(a, members);
    const u32 matching_1 = match_any_i16(cast_f64_i16(a), members);
    const u32 matching_2 = match_any_usize(i, members);
    const u32 votes = ((ballot ^ matching) ^ matching_1) ^ matching_2;
    const index_t count = block_count(votes > 3u);
    const index_t count_1 = count;
    const bool is_any_1 = block_any(a > 9.0);
    const bool is_all_1 = block_all(a > 8.0);
    const bool active = is_any_1 != is_all_1;
    store_global_f64(&output[i], sum + (f64)count_1 + (f64)votes, active);
}
