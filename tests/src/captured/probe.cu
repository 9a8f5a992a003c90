typedef float f32;
struct alignas(16) f32x4 { f32 lane[4]; };
extern "C" __global__ void __launch_bounds__(256) probe(const f32* __restrict__ in, f32* __restrict__ out, const unsigned char* __restrict__ b, double* __restrict__ d, unsigned* counter, int n) {
  __shared__ alignas(16) f32 tile[1056];
  unsigned t = threadIdx.x;
  unsigned base; asm("{ .reg .u64 p; cvta.to.shared.u64 p, %1; cvt.u32.u64 %0, p; }" : "=r"(base) : "l"(tile));
  f32 a=0,bb=0,c=0,e=0;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p ld.global.nc.v4.f32 {%0,%1,%2,%3}, [%4]; }" : "+f"(a),"+f"(bb),"+f"(c),"+f"(e) : "l"(in + 4*t), "r"((unsigned)(t < n)));
  asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" :: "r"(base + 16*t), "f"(a),"f"(bb),"f"(c),"f"(e) : "memory");
  __syncthreads();
  f32 x=0; asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.shared.f32 %0, [%1]; }" : "+f"(x) : "r"(base + 132*t), "r"((unsigned)(t < n)));
  f32 y=0, z=0; asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];" : "=f"(y),"=f"(z) : "r"(base + 8*t));
  unsigned u; asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(u) : "l"(b + t));
  unsigned short h; asm volatile("ld.shared.u16 %0, [%1];" : "=h"(h) : "r"(base + 2*t));
  double q; asm volatile("ld.global.f64 %0, [%1];" : "=d"(q) : "l"(d + t));
  f32 local[64];
  for (int i = 0; i < 64; i++) local[i] = x * i + y;
  f32 s = 0; for (int i = 0; i < n; i++) s += local[(i * (int)u + h) & 63];
  atomicAdd(counter, 1u);
  unsigned old; asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(base + 4*(t & 7)), "r"(u) : "memory");
  asm volatile("st.global.u8 [%0], %1;" :: "l"((unsigned char*)out + t), "r"(u) : "memory");
  asm volatile("st.shared.u16 [%0], %1;" :: "r"(base + 2*t), "h"(h) : "memory");
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(base + 16*t), "l"(in + 8*t) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  d[t] = q + s + z + old;
  out[t] = x + s;
}
extern "C" __global__ void copy(const f32* __restrict__ in, f32* __restrict__ out) { unsigned t = blockIdx.x*256+threadIdx.x; out[t]=in[t]; }
