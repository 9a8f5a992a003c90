// kernel: blocks of 80 x 1 x 1 = 80 threads
// of_warps: f32[3] in shared memory, RowMajor, 12 bytes

typedef int i32;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return (u32)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ f32 load_global_f32(const f32* pointer, bool active) {
    f32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.f32 %0, [%1]; }"
                 : "+f"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ void store_shared_f32(u32 address, f32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.volatile.shared.f32 [%0], %1; }"
                 :: "r"(address), "f"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ f32 load_shared_f32(u32 address, bool active) {
    f32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.volatile.shared.f32 %0, [%1]; }"
                 : "+f"(value) : "r"(address), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_global_f32(f32* pointer, f32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.f32 [%0], %1; }"
                 :: "l"(pointer), "f"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u32 shuffle_down_word(u32 value, u32 by, u32 members) {
    asm volatile("shfl.sync.down.b32 %0, %0, %1, %2, %3;" : "+r"(value) : "r"(by), "r"(31u - (u32)__clz((int)members)), "r"(members));
    return value;
}

__device__ __forceinline__ u32 shuffle_word(u32 value, u32 by, u32 members) {
    asm volatile("shfl.sync.idx.b32 %0, %0, %1, %2, %3;" : "+r"(value) : "r"(by), "r"(31u - (u32)__clz((int)members)), "r"(members));
    return value;
}

__device__ __forceinline__ f32 shuffle_down_f32(f32 value, u32 by, u32 members) {
    u32 bits;
    asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(value));
    bits = shuffle_down_word(bits, by, members);
    asm("mov.b32 %0, %1;" : "=f"(value) : "r"(bits));
    return value;
}

__device__ __forceinline__ f32 shuffle_f32(f32 value, u32 by, u32 members) {
    u32 bits;
    asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(value));
    bits = shuffle_word(bits, by, members);
    asm("mov.b32 %0, %1;" : "=f"(value) : "r"(bits));
    return value;
}

__device__ __forceinline__ index_t wrapping_shr_usize(index_t a, u32 amount) {
    return (index_t)((u64)a >> (amount & 63));
}

__device__ __forceinline__ u32 of_warps_at(u32 col) {
    return col * 4;
}

extern "C" __global__ void __launch_bounds__(80) kernel(
    const f32* __restrict__ input, index_t input_extent0,
    f32* __restrict__ output, index_t output_extent0) {
    __shared__ alignas(16) f32 of_warps[3];
    const u32 of_warps_base = shared_address(of_warps);
    const index_t thread_x = threadIdx.x;
    const index_t thread_y = threadIdx.y;
    const index_t thread_z = threadIdx.z;
    const u32 members = thread_x < 64 ? 0xffffffffu : 0xffffu;
    const index_t i = (thread_z * 9 + thread_y) * 8 + thread_x;
    const f32 input_value = load_global_f32(&input[i], true);
    const f32 v = input_value;
    const f32 value = v;
    const f32 value_1 = value;
    const bool active = thread_x / 32 + 1 < 3;
    const bool inactive = !active;
    index_t chosen = 32;
    chosen = inactive ? 16 : chosen;
    const index_t lanes = chosen;
    f32 sum = value_1;
    #pragma unroll
    for (i32 step = 0; step < 5; step += 1) {
        const index_t distance = wrapping_shr_usize(16, (u32)step);
        const f32 shuffled = shuffle_down_f32(sum, (u32)distance, members);
        const f32 other = shuffled;
        const bool active_1 = thread_x % 32 + distance < lanes;
        sum = active_1 ? sum + other : sum;
    }
    const f32 shuffled_1 = shuffle_f32(sum, (u32)0, members);
    const f32 sum_1 = shuffled_1;
    const bool active_2 = thread_x % 32 == 0;
    store_shared_f32(of_warps_base + of_warps_at(thread_x / 32), sum_1, active_2);
    __syncthreads();
    const f32 of_warps_value = load_shared_f32(of_warps_base + of_warps_at(0), true);
    f32 total = of_warps_value;
    #pragma unroll
    for (index_t i_1 = 1; i_1 < 3; i_1 += 1) {
        const f32 of_warps_value_1 = load_shared_f32(of_warps_base + of_warps_at(i_1), true);
        total = total + of_warps_value_1;
    }
    __syncthreads();
    const f32 value_2 = v;
    f32 most = value_2;
    #pragma unroll
    for (i32 step_1 = 0; step_1 < 5; step_1 += 1) {
        const f32 shuffled_2 = shuffle_down_f32(most, (u32)wrapping_shr_usize(16, (u32)step_1), members);
        most = fmaxf(most, shuffled_2);
    }
    const f32 shuffled_3 = shuffle_f32(most, (u32)0, members);
    store_global_f32(&output[i], total + shuffled_3, true);
}
