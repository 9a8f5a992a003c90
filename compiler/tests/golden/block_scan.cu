// kernel: blocks of 256 x 1 x 1 = 256 threads
// of_warps: f64[8] in shared memory, RowMajor, 64 bytes

typedef int i32;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef double f64;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return (u32)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ f64 load_global_f64(const f64* pointer, bool active) {
    f64 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.f64 %0, [%1]; }"
                 : "+d"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ void store_shared_f64(u32 address, f64 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.volatile.shared.f64 [%0], %1; }"
                 :: "r"(address), "d"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ f64 load_shared_f64(u32 address, bool active) {
    f64 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.volatile.shared.f64 %0, [%1]; }"
                 : "+d"(value) : "r"(address), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_global_f64(f64* pointer, f64 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.f64 [%0], %1; }"
                 :: "l"(pointer), "d"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u32 shuffle_up_word(u32 value, u32 by, u32 members) {
    asm volatile("shfl.sync.up.b32 %0, %0, %1, %2, %3;" : "+r"(value) : "r"(by), "r"(0u), "r"(members));
    return value;
}

__device__ __forceinline__ u32 shuffle_xor_word(u32 value, u32 by, u32 members) {
    asm volatile("shfl.sync.bfly.b32 %0, %0, %1, %2, %3;" : "+r"(value) : "r"(by), "r"(31u - (u32)__clz((int)members)), "r"(members));
    return value;
}

__device__ __forceinline__ f64 shuffle_up_f64(f64 value, u32 by, u32 members) {
    u32 low, high;
    asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "d"(value));
    low = shuffle_up_word(low, by, members);
    high = shuffle_up_word(high, by, members);
    asm("mov.b64 %0, {%1, %2};" : "=d"(value) : "r"(low), "r"(high));
    return value;
}

__device__ __forceinline__ f64 shuffle_xor_f64(f64 value, u32 by, u32 members) {
    u32 low, high;
    asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "d"(value));
    low = shuffle_xor_word(low, by, members);
    high = shuffle_xor_word(high, by, members);
    asm("mov.b64 %0, {%1, %2};" : "=d"(value) : "r"(low), "r"(high));
    return value;
}

__device__ __forceinline__ index_t wrapping_shl_usize(index_t a, u32 amount) {
    return (index_t)((u64)a << (amount & 63));
}

__device__ __forceinline__ u32 of_warps_at(u32 col) {
    return col * 8;
}

extern "C" __global__ void __launch_bounds__(256) kernel(
    const f64* __restrict__ input, index_t input_extent0,
    f64* __restrict__ output, index_t output_extent0) {
    __shared__ alignas(16) f64 of_warps[8];
    const u32 of_warps_base = shared_address(of_warps);
    const index_t thread_x = threadIdx.x;
    const index_t thread_y = threadIdx.y;
    const index_t thread_z = threadIdx.z;
    const index_t i = (thread_z * 9 + thread_y) * 8 + thread_x;
    const f64 input_value = load_global_f64(&input[i], true);
    const f64 v = input_value;
    const f64 value = v;
    const f64 value_1 = value;
    f64 sum = value_1;
    #pragma unroll
    for (i32 step = 0; step < 5; step += 1) {
        const index_t distance = wrapping_shl_usize(1, (u32)step);
        const f64 shuffled = shuffle_up_f64(sum, (u32)distance, 0xffffffffu);
        const f64 below = shuffled;
        const bool active = thread_x % 32 >= distance;
        sum = active ? below + sum : sum;
    }
    const f64 sum_1 = sum;
    const f64 shuffled_1 = shuffle_up_f64(sum_1, (u32)1, 0xffffffffu);
    const f64 below_1 = shuffled_1;
    const bool active_1 = thread_x % 32 == 0;
    const bool inactive = !active_1;
    f64 chosen = (f64)0;
    chosen = inactive ? below_1 : chosen;
    const f64 below_2 = chosen;
    const f64 sum_2 = sum_1;
    const bool active_2 = thread_x % 32 == 31;
    store_shared_f64(of_warps_base + of_warps_at(thread_x / 32), sum_2, active_2);
    __syncthreads();
    f64 before = (f64)0;
    #pragma unroll
    for (index_t i_1 = 0; i_1 < 7; i_1 += 1) {
        const f64 of_warps_value = load_shared_f64(of_warps_base + of_warps_at(i_1), true);
        const f64 other = of_warps_value;
        const bool active_3 = i_1 < thread_x / 32;
        before = active_3 ? before + other : before;
    }
    __syncthreads();
    const f64 value_2 = v;
    const f64 least = value_2;
    const f64 shuffled_2 = shuffle_xor_f64(least, (u32)16, 0xffffffffu);
    const f64 least_1 = fmin(least, shuffled_2);
    const f64 shuffled_3 = shuffle_xor_f64(least_1, (u32)8, 0xffffffffu);
    const f64 least_2 = fmin(least_1, shuffled_3);
    const f64 shuffled_4 = shuffle_xor_f64(least_2, (u32)4, 0xffffffffu);
    const f64 least_3 = fmin(least_2, shuffled_4);
    const f64 shuffled_5 = shuffle_xor_f64(least_3, (u32)2, 0xffffffffu);
    const f64 least_4 = fmin(least_3, shuffled_5);
    const f64 shuffled_6 = shuffle_xor_f64(least_4, (u32)1, 0xffffffffu);
    store_global_f64(&output[i], before + below_2 + fmin(least_4, shuffled_6), true);
}
