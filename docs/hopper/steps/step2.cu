// Step 2: a tile of 128 x 128, and a ring of 4 stages that a warp of its own fills.
//
// The producer runs up to 4 stages ahead, so that loads and products overlap. A stage feeds four
// times the products of step 1, for twice the bytes.
#include "step.cuh"

namespace hopper_steps::step2 {

constexpr int kM = 128, kN = 128, kStages = 4;
constexpr int kThreads = kWarpgroup + 32;

struct Stage {
  T a[kM][kStageK];
  T b[kN][kStageK];
};

struct Shared {
  Stage stages[kStages];
  Ring<kStages> ring;
};

__global__ void __launch_bounds__(kThreads, 1)
    Gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, T* d, int n,
         int k) {
#ifdef FICTL_HOPPER
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int row = blockIdx.y * kM, column = blockIdx.x * kN;
  if (threadIdx.x == 0) shared.ring.init(/*consumer_warps=*/4);
  __syncthreads();

  RingPosition<kStages> at;
  if (threadIdx.x >= kWarpgroup) {
    if (!elect_lane()) return;
    for (int i = 0; i < k; i += kStageK, at.advance()) {
      Stage& stage = shared.stages[at.stage];
      shared.ring.wait_empty(at);
      shared.ring.expect(at, sizeof(Stage));
      load_tensor(stage.a, a, shared.ring.full[at.stage], i, row);
      load_tensor(stage.b, b, shared.ring.full[at.stage], i, column);
    }
    return;
  }
  float sums[kM / kWgmmaM][kN / 2];
  for (auto& block : sums) pin(block);
  for (int i = 0; i < k; i += kStageK, at.advance()) {
    const Stage& stage = shared.stages[at.stage];
    shared.ring.wait_full(at);
    wgmma_begin();
    multiply_stage(sums[0], stage.a[0], stage.b, i > 0);
    multiply_stage(sums[1], stage.a[kWgmmaM], stage.b, i > 0);
    wgmma_commit();
    wgmma_wait<0>();
    if (threadIdx.x % 32 == 0) shared.ring.release(at);
  }
  for (auto& block : sums) pin(block);
  T* to = d + int64_t{row} * n + column;
  store_sums(sums[0], to, n);
  store_sums(sums[1], to + int64_t{kWgmmaM} * n, n);
#endif
}

}  // namespace hopper_steps::step2

extern "C" cudaError_t hopper_step2(const void* a, const void* b, void* d, int m, int n, int k,
                                    cudaStream_t stream) {
  using namespace hopper_steps;
  CUtensorMap maps[2];
  cudaError_t status = make_map(a, m, k, step2::kM, &maps[0]);
  if (status == cudaSuccess) status = make_map(b, n, k, step2::kN, &maps[1]);
  if (status != cudaSuccess) return status;
  LaunchConfig config;
  config.grid = dim3(n / step2::kN, m / step2::kM);
  config.block = dim3(step2::kThreads);
  config.stream = stream;
  config.shared_bytes = sizeof(step2::Shared);
  return launch<step2::Gemm>(config, maps[0], maps[1], static_cast<T*>(d), n, k);
}
