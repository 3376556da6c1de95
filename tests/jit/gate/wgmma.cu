// Kernels that ptxas remarks on, and one that it has nothing to say about. Nobody runs them.
#include <cstdint>

using Tile = float (&)[4];

__device__ inline void Fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ inline void Multiply(Tile d, uint64_t a, uint64_t b) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0;}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(a), "l"(b));
}

__device__ inline void Wait() {
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}

__device__ inline void Store(float* out, Tile d) {
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = d[i];
}

__global__ void __launch_bounds__(128, 1) Right(float* out, uint64_t a, uint64_t b) {
  float d[4] = {};
  Fence();
  Multiply(d, a, b);
  Multiply(d, a + 2, b + 2);
  Wait();
  Store(out, d);
}

#ifdef DEFECTS
namespace defects {

__global__ void __launch_bounds__(128, 1) TouchedKernel(float* out, uint64_t a, uint64_t b) {
  float d[4] = {};
  Fence();
  Multiply(d, a, b);  // serialised
  d[0] += out[5];     // touched
  Multiply(d, a, b);
  Wait();
  Store(out, d);
}

template <int kFirst>
__global__ void __launch_bounds__(128, 1) UnfencedKernel(float* out, uint64_t a, uint64_t b) {
  float d[4];
  for (int i = 0; i < 4; ++i) d[i] = out[i + kFirst];
  Multiply(d, a, b);  // unfenced
  Wait();
  Store(out, d);
}
template __global__ void UnfencedKernel<9>(float*, uint64_t, uint64_t);

__global__ void __launch_bounds__(128) UnboundKernel(float* out) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");  // unbound
  out[threadIdx.x] = 1.f;
}

}  // namespace defects
#endif
