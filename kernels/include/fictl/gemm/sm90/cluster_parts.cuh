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
#include <fictl/gemm/sm90/mainloop.cuh>
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
      leave(sums, own);
      __syncwarp();
      if (lane == 0) barriers_.handed[warpgroup].arrive_at(0);
      barriers_.taken[warpgroup].wait_for_cluster(parity);
    } else {
      barriers_.handed[warpgroup].wait_for_cluster(parity);
      for (int other = 1; other < Tile::kParts; ++other) add(sums, device::Cluster::at(own, other));
      __syncwarp();
      if (lane > 0 && lane < Tile::kParts) barriers_.taken[warpgroup].arrive_at(lane);
    }
    parity ^= 1;
    return rank == 0;
  }

 private:
  static constexpr int kWarps = device::kWarpgroup / 32;
  static constexpr int kFloats = Tile::kBlocks * Tile::kY / 2;

  __device__ static void leave(const Sums<Tile>& sums, float4* to) {
    const float* from = &sums[0][0];
#pragma unroll
    for (int i = 0; i < kFloats; i += 4) {
      to[i / 4 * device::kWarpgroup] = {from[i], from[i + 1], from[i + 2], from[i + 3]};
    }
  }

  __device__ static void add(Sums<Tile>& sums, const float4* from) {
    float* to = &sums[0][0];
#pragma unroll
    for (int i = 0; i < kFloats; i += 4) {
      const float4 more = from[i / 4 * device::kWarpgroup];
      to[i] += more.x;
      to[i + 1] += more.y;
      to[i + 2] += more.z;
      to[i + 3] += more.w;
    }
  }

  PartBarriers& barriers_;
};

// The steps of K that are a block's part of a tile.
__device__ inline WorkItem part_of(WorkItem item, int rank, int parts) {
  const int steps = item.steps();
  return {item.tile, item.begin + steps * rank / parts, item.begin + steps * (rank + 1) / parts};
}

}  // namespace fictl::gemm
