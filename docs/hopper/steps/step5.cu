// Step 5: sums leave through shared memory and bulk stores.
//
// A warpgroup fills a panel of 64 x 64 while the copy engine stores the one before, and goes on to
// the next tile while the last two are on their way. Whole lines are written, by one thread.
#include <fictl/device/hopper/registers.cuh>
#include <fictl/device/hopper/tile_order.cuh>

#include "panels.cuh"

namespace hopper_steps::step5 {

constexpr int kM = 128, kN = 256, kStages = 4;
constexpr int kConsumers = 2, kGroup = 16;
constexpr int kThreads = (1 + kConsumers) * kWarpgroup;

struct Stage {
  T a[kM][kStageK];
  T b[kN][kStageK];
};

struct Shared {
  Stage stages[kStages];
  Panel panels[kConsumers][kPanels];
  Ring<kStages> ring;
};

__global__ void __launch_bounds__(kThreads, 1)
    Gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
         const __grid_constant__ CUtensorMap d, int k, TileOrder order) {
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
  const int warpgroup = role - 1;
  const int first_row = warpgroup * kWgmmaM;
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
    store_panels(sums, shared.panels[warpgroup], d, NamedBarrier{1 + warpgroup, kWarpgroup},
                 place.row * kM + first_row, place.column * kN);
  }
  // Shared memory must stay until the copy engine has read it.
  if (threadIdx.x % kWarpgroup == 0) bulk_wait_read<0>();
#endif
}

}  // namespace hopper_steps::step5

extern "C" cudaError_t hopper_step5(const void* a, const void* b, void* d, int m, int n, int k,
                                    cudaStream_t stream) {
  using namespace hopper_steps;
  CUtensorMap maps[3];
  cudaError_t status = make_map(a, m, k, step5::kM, &maps[0]);
  if (status == cudaSuccess) status = make_map(b, n, k, step5::kN, &maps[1]);
  if (status == cudaSuccess) status = make_map(d, m, n, kWgmmaM, &maps[2]);
  if (status != cudaSuccess) return status;
  LaunchConfig config;
  config.grid = dim3(sm_count());
  config.block = dim3(step5::kThreads);
  config.stream = stream;
  config.shared_bytes = sizeof(step5::Shared);
  const TileOrder order = {m / step5::kM, n / step5::kN, step5::kGroup};
  return launch<step5::Gemm>(config, maps[0], maps[1], maps[2], k, order);
}
