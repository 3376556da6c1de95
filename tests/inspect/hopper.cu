// One of each of Hopper's instructions that a pipe beside the warps works on, and what orders them.
#include <cuda.h>
#include <cstdint>

namespace hopper {

__device__ inline void Products(uint64_t a, uint64_t b, float* out) {
  float half[4] = {}, quarter[4] = {};
  int integer[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
      : "+f"(half[0]), "+f"(half[1]), "+f"(half[2]), "+f"(half[3])
      : "l"(a), "l"(b));
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0,%1,%2,%3}, %4, %5, 1, 1, 1;"
               : "+f"(quarter[0]), "+f"(quarter[1]), "+f"(quarter[2]), "+f"(quarter[3])
               : "l"(a), "l"(b));
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0,%1,%2,%3}, %4, %5, 1;"
               : "+r"(integer[0]), "+r"(integer[1]), "+r"(integer[2]), "+r"(integer[3])
               : "l"(a), "l"(b));
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = half[i] + quarter[i] + integer[i];
}

__global__ void __launch_bounds__(384, 1)
    PipesKernel(const __grid_constant__ CUtensorMap map, float* out, const float* in, uint64_t a) {
  __shared__ __align__(1024) char tile[4096];
  __shared__ uint64_t barrier;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const unsigned full = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full));
  __syncthreads();
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");  // fewer
    if (threadIdx.x != 0) return;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(full));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %2}], [%3];" ::"r"(to),
        "l"(&map), "r"(0), "r"(full));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];" ::
            "r"(to),
        "l"(in), "r"(full));
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");  // more
  Products(a, a, out);
  unsigned x[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(to));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(to + 512),
               "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]));
  asm volatile("fence.proxy.async.shared::cta;");
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %1}], [%2];" ::"l"(
          &map),
      "r"(0), "r"(to));
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %1}],"
      " [%2];" ::"l"(&map),
      "r"(0), "r"(to));
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 64;" ::"l"(out),
      "r"(to));
}

}  // namespace hopper
