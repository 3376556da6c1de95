// Parts of K in a cluster: each block has a part of a tile's K, and the first block adds the sums
// of the others, read from their shared memory in their order.
//
//   block 0   multiply its part | wait: handed | add block 1, 2, ... | tell: taken | epilogue
//   block 1   multiply its part | sums to its panels, tell: handed | wait: taken | next tile
//
// Why not through memory, as in partial.cuh: no flags have to be zero before, and the sums cross
// the cluster in about a microsecond. The panels have room for 64 columns of 64 rows in fp32.
#pragma once

#include <fictl/device/cluster.cuh>
#include <fictl/gemm/sm90/sums.cuh>
#include <fictl/gemm/sm90/work.cuh>

namespace fictl::gemm {

template <typename Tile>
class ClusterParts {
 public:
  __device__ explicit ClusterParts(PartBarriers& barriers) : barriers_(barriers) {}

  // By one thread.
  __device__ void init() {
    for (int i = 0; i < kConsumers; ++i) {
      barriers_.handed[i].init((Tile::kParts - 1) * kWarps);
      barriers_.taken[i].init(kWarps);
    }
    device::fence_mbarrier_init();
  }

  // Adds the parts of a tile, by one warpgroup of every block. True for the block that has the
  // sums. `parity`: of the warpgroup, 0 at first.
  __device__ bool meet(Sums<Tile>& sums, unsigned char (&panels)[kPanels][kPanelBytes], int rank,
                       int warpgroup, int thread, uint32_t& parity) {
    static_assert(sizeof(Sums<Tile>) * device::kWarpgroup <= sizeof(panels), "sums of the panels");
    auto* own = reinterpret_cast<float4*>(&panels[0][0]) + thread;
    const int lane = thread % 32;
    if (rank > 0) {
      leave_sums<Tile>(sums, own);
      __syncwarp();
      if (lane == 0) barriers_.handed[warpgroup].arrive_at(0);
      barriers_.taken[warpgroup].wait_for_cluster(parity);
    } else {
      barriers_.handed[warpgroup].wait_for_cluster(parity);
      for (int other = 1; other < Tile::kParts; ++other) {
        add_sums<Tile>(sums, device::Cluster::at(own, other), [](const float4* at) { return *at; });
      }
      __syncwarp();
      if (lane > 0 && lane < Tile::kParts) barriers_.taken[warpgroup].arrive_at(lane);
    }
    parity ^= 1;
    return rank == 0;
  }

 private:
  static constexpr int kWarps = device::kWarpgroup / 32;

  PartBarriers& barriers_;
};

// The steps of K that are a block's part of a tile.
__device__ inline WorkItem part_of(WorkItem item, int rank, int parts) {
  const int steps = item.steps();
  return {item.tile, item.begin + steps * rank / parts, item.begin + steps * (rank + 1) / parts};
}

}  // namespace fictl::gemm
