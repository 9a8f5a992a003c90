// exp: blocks of 32 x 1 x 1 = 32 threads
// new: f32[32] in shared memory, RowMajor, 128 bytes

typedef unsigned int u32;
typedef float f32;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return (u32)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ f32 load_global_mut_f32(const f32* pointer, bool active) {
    f32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.f32 %0, [%1]; }"
                 : "+f"(value) : "l"(pointer), "r"((u32)active) : "memory");
    return value;
}

__device__ __forceinline__ void store_shared_f32(u32 address, f32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.volatile.shared.f32 [%0], %1; }"
                 :: "r"(address), "f"(value), "r"((u32)active) : "memory");
}

__device__ __forceinline__ u32 new_at(u32 col) {
    return col * 4;
}

extern "C" __global__ void __launch_bounds__(32) exp_1(
    f32* __restrict__ float_1, index_t float_rows, index_t float_cols, index_t float_pitch,
    index_t float_rows_1,
    index_t thread_x_1) {
    __shared__ alignas(16) f32 new_1[32];
    const u32 new_base = shared_address(new_1);
    const index_t thread_x = threadIdx.x;
    const index_t active = thread_x + float_rows_1;
    const f32 gru00f6u00dfe = load_global_mut_f32(&float_1[active * float_pitch + thread_x_1], true);
    const bool active_1 = active < thread_x_1;
    const f32 fmaxf_1 = fmaxf(gru00f6u00dfe, gru00f6u00dfe);
    const f32 y1 = fmaxf_1;
    store_shared_f32(new_base + new_at(thread_x), y1, active_1);
}
