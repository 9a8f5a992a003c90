// sum: blocks of 256 x 1 x 1 = 256 threads
// of_warps: u32[8] in shared memory, RowMajor, 32 bytes

typedef unsigned int u32;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return (u32)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ u32 load_global_u32(const u32* pointer, bool active) {
    u32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.u32 %0, [%1]; }"
                 : "+r"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ void store_shared_u32(u32 address, u32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.volatile.shared.u32 [%0], %1; }"
                 :: "r"(address), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u32 load_shared_u32(u32 address, bool active) {
    u32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.volatile.shared.u32 %0, [%1]; }"
                 : "+r"(value) : "r"(address), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void reduce_add_global_u32(u32* pointer, u32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active red.relaxed.gpu.global.add.u32 [%0], %1; }"
                 : : "l"(pointer), "r"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u32 shuffle_xor_word(u32 value, u32 by, u32 members) {
    asm volatile("shfl.sync.bfly.b32 %0, %0, %1, %2, %3;" : "+r"(value) : "r"(by), "r"(31u - (u32)__clz((int)members)), "r"(members));
    return value;
}

__device__ __forceinline__ u32 shuffle_xor_u32(u32 value, u32 by, u32 members) {
    return (u32)shuffle_xor_word((u32)value, by, members);
}

__device__ __forceinline__ u32 of_warps_at(u32 col) {
    return col * 4;
}

extern "C" __global__ void __launch_bounds__(256) sum(
    const u32* __restrict__ input, index_t input_extent0,
    u32* __restrict__ output, index_t output_extent0) {
    __shared__ alignas(16) u32 of_warps[8];
    const u32 of_warps_base = shared_address(of_warps);
    const index_t thread_x = threadIdx.x;
    const index_t block_x = blockIdx.x;
    u32 own = 0u;
    #pragma unroll
    for (index_t k = 0; k < 4; k += 1) {
        const index_t i = block_x * 1024 + k * 256 + thread_x;
        const bool active = i < input_extent0;
        const u32 input_value = load_global_u32(&input[i], active);
        own = active ? own + input_value : own;
    }
    const u32 value = own;
    const u32 value_1 = value;
    const u32 sum_1 = value_1;
    const u32 shuffled = shuffle_xor_u32(sum_1, (u32)16, 0xffffffffu);
    const u32 sum_2 = sum_1 + shuffled;
    const u32 shuffled_1 = shuffle_xor_u32(sum_2, (u32)8, 0xffffffffu);
    const u32 sum_3 = sum_2 + shuffled_1;
    const u32 shuffled_2 = shuffle_xor_u32(sum_3, (u32)4, 0xffffffffu);
    const u32 sum_4 = sum_3 + shuffled_2;
    const u32 shuffled_3 = shuffle_xor_u32(sum_4, (u32)2, 0xffffffffu);
    const u32 sum_5 = sum_4 + shuffled_3;
    const u32 shuffled_4 = shuffle_xor_u32(sum_5, (u32)1, 0xffffffffu);
    const u32 sum_6 = sum_5 + shuffled_4;
    const bool active_1 = thread_x % 32 == 0;
    store_shared_u32(of_warps_base + of_warps_at(thread_x / 32), sum_6, active_1);
    __syncthreads();
    const u32 of_warps_value = load_shared_u32(of_warps_base + of_warps_at(0), true);
    u32 total = of_warps_value;
    #pragma unroll
    for (index_t i_1 = 1; i_1 < 8; i_1 += 1) {
        const u32 of_warps_value_1 = load_shared_u32(of_warps_base + of_warps_at(i_1), true);
        total = total + of_warps_value_1;
    }
    __syncthreads();
    const u32 total_1 = total;
    const bool active_2 = thread_x == 0;
    reduce_add_global_u32(&output[0], total_1, active_2);
}
