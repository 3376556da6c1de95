// Step 4: a persistent grid. A block an SM takes tile after tile, in groups of 16 rows of tiles.
//
// The producer loads the next tile's stages while the consumers store; barriers and maps are set up
// once. Tiles that run together share rows of A and B, which come from L2.
#include <fictl/device/hopper/registers.cuh>
#include <fictl/device/hopper/tile_order.cuh>

#include "step.cuh"

namespace hopper_steps::step4 {

constexpr int kM = 128, kN = 256, kStages = 4;
constexpr int kConsumers = 2, kGroup = 16;
constexpr int kThreads = (1 + kConsumers) * kWarpgroup;

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
         int k, TileOrder order) {
#ifdef FICTL_HOPPER
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int role = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
  const int tiles = order.rows * order.columns;
  if (threadIdx.x == 0) shared.ring.init(kConsumers * 4);
  __syncthreads();

  RingPosition<kStages> at;
  if (role == 0) {
    give_registers_up<40>();
    if (threadIdx.x < 32 && elect_lane()) {
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const TilePlace place = order.place(tile);
        for (int i = 0; i < k; i += kStageK, at.advance()) {
          Stage& stage = shared.stages[at.stage];
          shared.ring.wait_empty(at);
          shared.ring.expect(at, sizeof(Stage));
          load_tensor(stage.a, a, shared.ring.full[at.stage], i, place.row * kM);
          load_tensor(stage.b, b, shared.ring.full[at.stage], i, place.column * kN);
        }
      }
    }
    return;
  }
  take_registers<232>();
  const int first_row = (role - 1) * kWgmmaM;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    float sums[kN / 2];
    pin(sums);
    RingPosition<kStages> before;
    for (int i = 0; i < k; i += kStageK, at.advance()) {
      const Stage& stage = shared.stages[at.stage];
      shared.ring.wait_full(at);
      wgmma_begin();
      multiply_stage(sums, stage.a[first_row], stage.b, i > 0);
      wgmma_commit();
      wgmma_wait<1>();
      if (i > 0 && threadIdx.x % 32 == 0) shared.ring.release(before);
      before = at;
    }
    wgmma_wait<0>();
    pin(sums);
    if (threadIdx.x % 32 == 0) shared.ring.release(before);
    const TilePlace place = order.place(tile);
    store_sums(sums, d + int64_t{place.row * kM + first_row} * n + place.column * kN, n);
  }
#endif
}

}  // namespace hopper_steps::step4

extern "C" cudaError_t hopper_step4(const void* a, const void* b, void* d, int m, int n, int k,
                                    cudaStream_t stream) {
  using namespace hopper_steps;
  CUtensorMap maps[2];
  cudaError_t status = make_map(a, m, k, step4::kM, &maps[0]);
  if (status == cudaSuccess) status = make_map(b, n, k, step4::kN, &maps[1]);
  if (status != cudaSuccess) return status;
  LaunchConfig config;
  config.grid = dim3(sm_count());
  config.block = dim3(step4::kThreads);
  config.stream = stream;
  config.shared_bytes = sizeof(step4::Shared);
  const TileOrder order = {m / step4::kM, n / step4::kN, step4::kGroup};
  return launch<step4::Gemm>(config, maps[0], maps[1], static_cast<T*>(d), n, k, order);
}
