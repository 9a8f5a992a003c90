// atomics: blocks of 64 x 1 x 1 = 64 threads
// words: i32[2] in shared memory, RowMajor, 8 bytes
// longs: i64[2] in shared memory, RowMajor, 16 bytes
// floats: f32[64] in shared memory, RowMajor, 256 bytes
// doubles: f64[64] in shared memory, RowMajor, 512 bytes

typedef int i32;
typedef long long i64;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return (u32)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ void store_shared_i32(u32 address, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.volatile.shared.s32 [%0], %1; }"
                 :: "r"(address), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ void store_shared_i64(u32 address, i64 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.volatile.shared.s64 [%0], %1; }"
                 :: "r"(address), "l"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ void store_shared_f32(u32 address, f32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.volatile.shared.f32 [%0], %1; }"
                 :: "r"(address), "f"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ void store_shared_f64(u32 address, f64 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.volatile.shared.f64 [%0], %1; }"
                 :: "r"(address), "d"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ f32 load_global_f32(const f32* pointer, bool active) {
    f32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.f32 %0, [%1]; }"
                 : "+f"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ void reduce_add_shared_i32(u32 address, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.cta.shared.add.s32 [%0], %1; }"
                 : : "r"(address), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i64 atomic_add_shared_i64(u32 address, i64 value, bool active) {
    i64 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.cta.shared.add.u64 %0, [%1], %2; }"
                 : "+l"(before) : "r"(address), "l"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ void reduce_add_global_i32(i32* pointer, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.gpu.global.add.s32 [%0], %1; }"
                 : : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i32 atomic_add_global_i32(i32* pointer, i32 value, bool active) {
    i32 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.gpu.global.add.s32 %0, [%1], %2; }"
                 : "+r"(before) : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ void reduce_min_shared_i32(u32 address, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.cta.shared.min.s32 [%0], %1; }"
                 : : "r"(address), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i64 atomic_min_shared_i64(u32 address, i64 value, bool active) {
    i64 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.cta.shared.min.s64 %0, [%1], %2; }"
                 : "+l"(before) : "r"(address), "l"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ void reduce_min_global_i32(i32* pointer, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.gpu.global.min.s32 [%0], %1; }"
                 : : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i32 atomic_min_global_i32(i32* pointer, i32 value, bool active) {
    i32 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.gpu.global.min.s32 %0, [%1], %2; }"
                 : "+r"(before) : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ void reduce_max_shared_i32(u32 address, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.cta.shared.max.s32 [%0], %1; }"
                 : : "r"(address), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i64 atomic_max_shared_i64(u32 address, i64 value, bool active) {
    i64 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.cta.shared.max.s64 %0, [%1], %2; }"
                 : "+l"(before) : "r"(address), "l"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ void reduce_max_global_i32(i32* pointer, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.gpu.global.max.s32 [%0], %1; }"
                 : : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i32 atomic_max_global_i32(i32* pointer, i32 value, bool active) {
    i32 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.gpu.global.max.s32 %0, [%1], %2; }"
                 : "+r"(before) : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ void reduce_and_shared_i32(u32 address, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.cta.shared.and.b32 [%0], %1; }"
                 : : "r"(address), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i64 atomic_and_shared_i64(u32 address, i64 value, bool active) {
    i64 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.cta.shared.and.b64 %0, [%1], %2; }"
                 : "+l"(before) : "r"(address), "l"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ void reduce_and_global_i32(i32* pointer, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.gpu.global.and.b32 [%0], %1; }"
                 : : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i32 atomic_and_global_i32(i32* pointer, i32 value, bool active) {
    i32 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.gpu.global.and.b32 %0, [%1], %2; }"
                 : "+r"(before) : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ void reduce_or_shared_i32(u32 address, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.cta.shared.or.b32 [%0], %1; }"
                 : : "r"(address), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i64 atomic_or_shared_i64(u32 address, i64 value, bool active) {
    i64 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.cta.shared.or.b64 %0, [%1], %2; }"
                 : "+l"(before) : "r"(address), "l"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ void reduce_or_global_i32(i32* pointer, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.gpu.global.or.b32 [%0], %1; }"
                 : : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i32 atomic_or_global_i32(i32* pointer, i32 value, bool active) {
    i32 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.gpu.global.or.b32 %0, [%1], %2; }"
                 : "+r"(before) : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ void reduce_xor_shared_i32(u32 address, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.cta.shared.xor.b32 [%0], %1; }"
                 : : "r"(address), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i64 atomic_xor_shared_i64(u32 address, i64 value, bool active) {
    i64 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.cta.shared.xor.b64 %0, [%1], %2; }"
                 : "+l"(before) : "r"(address), "l"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ void reduce_xor_global_i32(i32* pointer, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.gpu.global.xor.b32 [%0], %1; }"
                 : : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i32 atomic_xor_global_i32(i32* pointer, i32 value, bool active) {
    i32 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.gpu.global.xor.b32 %0, [%1], %2; }"
                 : "+r"(before) : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ i32 atomic_exchange_shared_i32(u32 address, i32 value, bool active) {
    i32 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.cta.shared.exch.b32 %0, [%1], %2; }"
                 : "+r"(before) : "r"(address), "r"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ i64 atomic_exchange_shared_i64(u32 address, i64 value, bool active) {
    i64 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.cta.shared.exch.b64 %0, [%1], %2; }"
                 : "+l"(before) : "r"(address), "l"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ i32 atomic_exchange_global_i32(i32* pointer, i32 value, bool active) {
    i32 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.gpu.global.exch.b32 %0, [%1], %2; }"
                 : "+r"(before) : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ i32 atomic_compare_exchange_global_i32(i32* pointer, i32 expected, i32 value, bool active) {
    i32 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %4, 0; @active atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3; }"
                 : "+r"(before) : "l"(pointer), "r"(expected), "r"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ void reduce_add_shared_f32(u32 address, f32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.cta.shared.add.f32 [%0], %1; }"
                 : : "r"(address), "f"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ f32 atomic_exchange_shared_f32(u32 address, f32 value, bool active) {
    f32 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.cta.shared.exch.b32 %0, [%1], %2; }"
                 : "+f"(before) : "r"(address), "f"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ f64 atomic_add_shared_f64(u32 address, f64 value, bool active) {
    f64 before = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %3, 0; @active atom.relaxed.cta.shared.add.f64 %0, [%1], %2; }"
                 : "+d"(before) : "r"(address), "d"(value), "r"((u32)active) : "memory");
    return before;
}

__device__ __forceinline__ void store_global_i32(i32* pointer, i32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.s32 [%0], %1; }"
                 :: "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ i32 cast_f32_i32(f32 a) {
    return a != a ? (i32)0 : a <= -0x1p+31f ? (i32)(-2147483647 - 1) : a >= 0x1p+31f ? (i32)2147483647 : (i32)a;
}

__device__ __forceinline__ i32 wrapping_add_i32(i32 a, i32 b) {
    return (i32)((u32)a + (u32)b);
}

__device__ __forceinline__ i32 cast_f64_i32(f64 a) {
    return a != a ? (i32)0 : a <= -0x1p+31 ? (i32)(-2147483647 - 1) : a >= 0x1p+31 ? (i32)2147483647 : (i32)a;
}

__device__ __forceinline__ u32 words_at(u32 col) {
    return col * 4;
}

__device__ __forceinline__ u32 longs_at(u32 col) {
    return col * 8;
}

__device__ __forceinline__ u32 floats_at(u32 col) {
    return col * 4;
}

__device__ __forceinline__ u32 doubles_at(u32 col) {
    return col * 8;
}

extern "C" __global__ void __launch_bounds__(64) atomics(
    const f32* __restrict__ input, index_t input_extent0,
    i32* __restrict__ output, index_t output_extent0) {
    __shared__ alignas(16) i32 words[2];
    const u32 words_base = shared_address(words);
    __shared__ alignas(16) i64 longs[2];
    const u32 longs_base = shared_address(longs);
    __shared__ alignas(16) f32 floats[64];
    const u32 floats_base = shared_address(floats);
    __shared__ alignas(16) f64 doubles[64];
    const u32 doubles_base = shared_address(doubles);
    const index_t thread_x = threadIdx.x;
    const index_t i = thread_x;
    const bool active = i < 2;
    store_shared_i32(words_base + words_at(i), 0, active);
    store_shared_i64(longs_base + longs_at(i), 0ll, active);
    store_shared_f32(floats_base + floats_at(i), 0.0f, true);
    store_shared_f64(doubles_base + doubles_at(i), 0.0, true);
    __syncthreads();
    const f32 input_value = load_global_f32(&input[i], true);
    const i32 v = cast_f32_i32(input_value);
    i32 sum = v;
    const bool active_1 = v > 3;
    reduce_add_shared_i32(words_base + words_at(0), v, active_1);
    const i64 longs_before = atomic_add_shared_i64(longs_base + longs_at(1), (i64)v, true);
    const i64 a = longs_before;
    reduce_add_global_i32(&output[i], v, true);
    const i32 output_before_1 = atomic_add_global_i32(&output[i], (i32)a, true);
    sum = wrapping_add_i32(sum, output_before_1);
    const bool active_2 = v > 3;
    reduce_min_shared_i32(words_base + words_at(0), v, active_2);
    const i64 longs_before_1 = atomic_min_shared_i64(longs_base + longs_at(1), (i64)v, true);
    const i64 a_1 = longs_before_1;
    reduce_min_global_i32(&output[i], v, true);
    const i32 output_before_3 = atomic_min_global_i32(&output[i], (i32)a_1, true);
    sum = wrapping_add_i32(sum, output_before_3);
    const bool active_3 = v > 3;
    reduce_max_shared_i32(words_base + words_at(0), v, active_3);
    const i64 longs_before_2 = atomic_max_shared_i64(longs_base + longs_at(1), (i64)v, true);
    const i64 a_2 = longs_before_2;
    reduce_max_global_i32(&output[i], v, true);
    const i32 output_before_5 = atomic_max_global_i32(&output[i], (i32)a_2, true);
    sum = wrapping_add_i32(sum, output_before_5);
    const bool active_4 = v > 3;
    reduce_and_shared_i32(words_base + words_at(0), v, active_4);
    const i64 longs_before_3 = atomic_and_shared_i64(longs_base + longs_at(1), (i64)v, true);
    const i64 a_3 = longs_before_3;
    reduce_and_global_i32(&output[i], v, true);
    const i32 output_before_7 = atomic_and_global_i32(&output[i], (i32)a_3, true);
    sum = wrapping_add_i32(sum, output_before_7);
    const bool active_5 = v > 3;
    reduce_or_shared_i32(words_base + words_at(0), v, active_5);
    const i64 longs_before_4 = atomic_or_shared_i64(longs_base + longs_at(1), (i64)v, true);
    const i64 a_4 = longs_before_4;
    reduce_or_global_i32(&output[i], v, true);
    const i32 output_before_9 = atomic_or_global_i32(&output[i], (i32)a_4, true);
    sum = wrapping_add_i32(sum, output_before_9);
    const bool active_6 = v > 3;
    reduce_xor_shared_i32(words_base + words_at(0), v, active_6);
    const i64 longs_before_5 = atomic_xor_shared_i64(longs_base + longs_at(1), (i64)v, true);
    const i64 a_5 = longs_before_5;
    reduce_xor_global_i32(&output[i], v, true);
    const i32 output_before_11 = atomic_xor_global_i32(&output[i], (i32)a_5, true);
    sum = wrapping_add_i32(sum, output_before_11);
    const bool active_7 = v > 3;
    atomic_exchange_shared_i32(words_base + words_at(0), v, active_7);
    const i64 longs_before_6 = atomic_exchange_shared_i64(longs_base + longs_at(1), (i64)v, true);
    const i64 a_6 = longs_before_6;
    atomic_exchange_global_i32(&output[i], v, true);
    const i32 output_before_13 = atomic_exchange_global_i32(&output[i], (i32)a_6, true);
    sum = wrapping_add_i32(sum, output_before_13);
    const i32 output_before_14 = atomic_compare_exchange_global_i32(&output[i], 3, sum, true);
    sum = wrapping_add_i32(sum, output_before_14);
    reduce_add_shared_f32(floats_base + floats_at(i), 0.5f, true);
    const f32 floats_before_1 = atomic_exchange_shared_f32(floats_base + floats_at(i), 1.0f, true);
    const f64 doubles_before = atomic_add_shared_f64(doubles_base + doubles_at(i), (f64)floats_before_1, true);
    const f64 old = doubles_before;
    store_global_i32(&output[i], wrapping_add_i32(sum, cast_f64_i32(old)), true);
}
