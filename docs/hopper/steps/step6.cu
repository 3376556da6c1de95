// Step 6: clusters of two blocks, which compute tiles one above the other and share B's.
//
// Each block loads half of the tile of B, for both: a stage costs 32 KiB of L2's traffic a block
// where it cost 48. A stage is free when the consumers of both blocks have released it.
#include <fictl/device/cluster.cuh>
#include <fictl/device/hopper/registers.cuh>
#include <fictl/device/hopper/tile_order.cuh>

#include "panels.cuh"

namespace hopper_steps::step6 {

constexpr int kM = 128, kN = 256, kStages = 4;
constexpr int kConsumers = 2, kGroup = 8, kCluster = 2;
constexpr int kThreads = (1 + kConsumers) * kWarpgroup;
constexpr int kShare = kN / kCluster;  // rows of B that a block loads
constexpr uint16_t kBothBlocks = 3;

struct Stage {
  T a[kM][kStageK];
  T b[kN][kStageK];
};

struct Shared {
  Stage stages[kStages];
  Panel panels[kConsumers][kPanels];
  Ring<kStages> ring;
};

// A tile of the order is a cluster's: this block has one of its two rows.
__device__ inline int row_of(TilePlace place, int rank) {
  return (place.row * kCluster + rank) * kM;
}

__global__ void __launch_bounds__(kThreads, 1)
    Gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
         const __grid_constant__ CUtensorMap d, int k, TileOrder order) {
#ifdef FICTL_HOPPER
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int role = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
  const int rank = Cluster::rank();
  const int worker = blockIdx.x / kCluster, workers = gridDim.x / kCluster;
  const int tiles = order.rows * order.columns;
  if (threadIdx.x == 0) shared.ring.init(kCluster * kConsumers * 4);
  Cluster::sync();  // before a block sends to the other one

  RingPosition<kStages> at;
  if (role == 0) {
    give_registers_up<40>();
    if (threadIdx.x < 32 && elect_lane()) {
      for (int tile = worker; tile < tiles; tile += workers) {
        const TilePlace place = order.place(tile);
        for (int i = 0; i < k; i += kStageK, at.advance()) {
          Stage& stage = shared.stages[at.stage];
          Mbarrier& full = shared.ring.full[at.stage];
          shared.ring.wait_empty(at);
          shared.ring.expect(at, sizeof(Stage));  // with the other block's half of B
          load_tensor(stage.a, a, full, i, row_of(place, rank));
          load_tensor_multicast(stage.b[rank * kShare], b, full, kBothBlocks, i,
                                place.column * kN + rank * kShare);
        }
      }
      shared.ring.drain(at);  // this block stays until nobody reaches it any more
    }
    return;
  }
  take_registers<232>();
  const int warpgroup = role - 1, lane = threadIdx.x % 32;
  const int first_row = warpgroup * kWgmmaM;
  for (int tile = worker; tile < tiles; tile += workers) {
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
      if (i > 0 && lane < kCluster) shared.ring.release_at(before, lane);
      before = at;
    }
    wgmma_wait<0>();
    pin(sums);
    if (lane < kCluster) shared.ring.release_at(before, lane);
    const TilePlace place = order.place(tile);
    store_panels(sums, shared.panels[warpgroup], d, NamedBarrier{1 + warpgroup, kWarpgroup},
                 row_of(place, rank) + first_row, place.column * kN);
  }
  if (threadIdx.x % kWarpgroup == 0) bulk_wait_read<0>();
#endif
}

}  // namespace hopper_steps::step6

extern "C" cudaError_t hopper_step6(const void* a, const void* b, void* d, int m, int n, int k,
                                    cudaStream_t stream) {
  using namespace hopper_steps;
  CUtensorMap maps[3];
  cudaError_t status = make_map(a, m, k, step6::kM, &maps[0]);
  if (status == cudaSuccess) status = make_map(b, n, k, step6::kShare, &maps[1]);
  if (status == cudaSuccess) status = make_map(d, m, n, kWgmmaM, &maps[2]);
  if (status != cudaSuccess) return status;
  LaunchConfig config;
  config.grid = dim3(sm_count() / step6::kCluster * step6::kCluster);
  config.block = dim3(step6::kThreads);
  config.stream = stream;
  config.shared_bytes = sizeof(step6::Shared);
  config.cluster = dim3(step6::kCluster, 1, 1);
  const TileOrder order = {m / (step6::kCluster * step6::kM), n / step6::kN, step6::kGroup};
  return launch<step6::Gemm>(config, maps[0], maps[1], maps[2], k, order);
}
