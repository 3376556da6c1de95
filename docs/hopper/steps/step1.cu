// Step 1: one warpgroup, a tile of 64 x 64, one stage.
//
// Thread 0 asks for a stage of both operands, all threads wait for its bytes, multiply them, and
// begin again. Nothing overlaps: tensor cores wait for memory, and memory for tensor cores.
#include "step.cuh"

namespace hopper_steps::step1 {

constexpr int kM = 64, kN = 64;

struct Shared {
  alignas(1024) T a[kM][kStageK];
  alignas(1024) T b[kN][kStageK];
  Mbarrier full;
};

__global__ void __launch_bounds__(kWarpgroup)
    Gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, T* d, int n,
         int k) {
#ifdef FICTL_HOPPER
  __shared__ Shared shared;
  const int row = blockIdx.y * kM, column = blockIdx.x * kN;
  if (threadIdx.x == 0) {
    shared.full.init(1);
    fence_mbarrier_init();
  }
  __syncthreads();

  float sums[kN / 2];
  uint32_t parity = 0;
  pin(sums);
  for (int at = 0; at < k; at += kStageK, parity ^= 1) {
    if (threadIdx.x == 0) {
      shared.full.arrive_and_expect(sizeof(shared.a) + sizeof(shared.b));
      load_tensor(shared.a, a, shared.full, at, row);
      load_tensor(shared.b, b, shared.full, at, column);
    }
    shared.full.wait(parity);
    wgmma_begin();
    multiply_stage(sums, shared.a, shared.b, at > 0);
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();  // before the stage is loaded anew
  }
  pin(sums);
  store_sums(sums, d + int64_t{row} * n + column, n);
#endif
}

}  // namespace hopper_steps::step1

extern "C" cudaError_t hopper_step1(const void* a, const void* b, void* d, int m, int n, int k,
                                    cudaStream_t stream) {
  using namespace hopper_steps;
  CUtensorMap maps[2];
  cudaError_t status = make_map(a, m, k, step1::kM, &maps[0]);
  if (status == cudaSuccess) status = make_map(b, n, k, step1::kN, &maps[1]);
  if (status != cudaSuccess) return status;
  LaunchConfig config;
  config.grid = dim3(n / step1::kN, m / step1::kM);
  config.block = dim3(kWarpgroup);
  config.stream = stream;
  return launch<step1::Gemm>(config, maps[0], maps[1], static_cast<T*>(d), n, k);
}
