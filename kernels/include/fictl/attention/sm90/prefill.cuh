// Attention of tiles of 64, 128 or 192 rows of queries for Hopper, with bulk tensor copies and
// wgmma.
//
// Algorithm: FlashAttention-3. A persistent grid, one block an SM. In each block a producer loads
// queries, and keys and values into two rings of stages; one to three warpgroups have 64 rows each.
// Scores come from wgmma of both operands in shared memory. Their weights are the registers of the
// product with the values. A warpgroup issues the scores of a stage before the product of the last
// one, so that its softmax lies under a product; and warpgroups take turns, so that it lies under
// those of the other as well.
//
//   producer      K3 | Q | K2 V3 | K1 V2 | ...           next tile's K and Q
//   warpgroup 1   S3 | softmax | S2 O3 | softmax | ...   store
//   warpgroup 2   S3 | softmax |        S2 O3 | softmax  ...
//
// Traffic: queries once. Keys and values once for a tile of rows, from L2: tiles run in sections
// of heads whose keys and values fit it.
//
// Tiling: 64 rows a warpgroup and 128 keys a stage are 64 registers of scores, 32 of weights, and
// 64 of sums of 128 dims, of 232 a thread. Scores of 128 x 128 take 512 clocks of the tensor cores,
// as the product with the values, and their exponentials 1024 clocks of the special functions'
// unit: less than half of the products of both warpgroups.
#pragma once

#include <algorithm>

#include <fictl/attention/sm90/consume.cuh>
#include <fictl/attention/sm90/load.cuh>
#include <fictl/attention/sm90/loader.cuh>
#include <fictl/device/hopper/guard.cuh>
#include <fictl/device/hopper/registers.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/shared.cuh>

namespace fictl::attention {

template <typename Config>
__global__ void __launch_bounds__(sm90::Tile<Config>::kThreads, sm90::Tile<Config>::kBlocks)
    PrefillSm90Kernel(const __grid_constant__ CUtensorMap q_map,
                      const __grid_constant__ CUtensorMap k_map,
                      const __grid_constant__ CUtensorMap v_map,
                      const __grid_constant__ Problem<Config> problem,
                      const __grid_constant__ sm90::Loads loads) {
#ifdef FICTL_HOPPER
  using Tile = sm90::Tile<Config>;
  using Shared = sm90::Shared<Tile>;
  using Loader = sm90::Loader<Tile>;
  extern __shared__ unsigned char dynamic_shared[];
  Shared& shared = device::aligned<Shared>(dynamic_shared);

  device::share_registers<Tile::kBlocks>();
  const int role = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / device::kWarpgroup, 0);
  if (threadIdx.x == 0) {
    if constexpr (Tile::kTransposesBoxes) {
      for (device::Mbarrier& barrier : shared.loader.staged) barrier.init(Loader::kArrivals);
    }
    shared.work_ring.init(Tile::kConsumerWarps);
    shared.query_ring.init(Tile::kConsumerWarps);
    shared.key_ring.init(Tile::kConsumerWarps, Loader::kArrivals);
    shared.value_ring.init(Tile::kConsumerWarps, Loader::kArrivals);
    device::prefetch_tensor_map(q_map);
    if constexpr (Tile::kBoxes) {
      device::prefetch_tensor_map(k_map);
      device::prefetch_tensor_map(v_map);
    }
  }
  __syncthreads();
  // The next kernel's blocks may take the SMs as they become free; it waits for this one's results.
  device::pdl_trigger();

  if (role == 0) {
    device::give_registers_up<Tile::kProducerRegisters>();
    if (threadIdx.x < Loader::kThreads) {
      Loader loader = sm90::make_loader(shared, problem, loads, k_map, v_map);
      sm90::produce<Tile>(shared, problem, loads, q_map, loader);
    }
  } else {
    device::take_registers<Tile::kConsumerRegisters>();
    device::pdl_wait();
    sm90::Consumer<Tile, Config>(shared, problem, loads, role - 1).run();
  }
#endif
}

// For items of as many rows as Config::kRows / group * group; parts of split ones are for
// MergeParts to merge. As many blocks as `sm_count` SMs run at once.
template <typename Config>
cudaError_t PrefillSm90(const Problem<Config>& problem, const sm90::Extents& extents, int sm_count,
                        cudaStream_t stream, bool pdl) {
  using Tile = sm90::Tile<Config>;
  const int group = problem.group.divisor();
  if (group > Tile::kRows) return cudaErrorInvalidValue;
  sm90::Loads loads = {};
  loads.tile_rows = Tile::kRows / group * group;
  loads.box_rows = 1;
  if constexpr (Tile::kBoxes) sm90::plan_boxes<Tile>(problem.keys, problem.kv_heads, &loads);

  // Tensors without elements have no map, and nothing of them is loaded.
  CUtensorMap maps[3] = {};
  cudaError_t status = cudaSuccess;
  if (extents.queries > 0) {
    status = sm90::map_heads(problem.q, Tile::kDim, problem.kv_heads * group, extents.queries,
                             group, Tile::kRows / group, &maps[0], Tile::kPanelDims);
  }
  if constexpr (Tile::kBoxes) {
    if (extents.keys > 0 && status == cudaSuccess) {
      status =
          sm90::map_keys<Tile>(problem.keys, problem.kv_heads, extents, loads, &maps[1], &maps[2]);
    }
  }
  if (status != cudaSuccess) return status;

  const int64_t most = int64_t{std::max(sm_count, 1)} * Tile::kBlocks;
  device::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(std::min<int64_t>(blocks_of(problem), most)));
  config.block = dim3(Tile::kThreads);
  config.stream = stream;
  config.shared_bytes = sizeof(sm90::Shared<Tile>) + device::kPatternBytes;
  config.pdl = pdl;
  return device::launch<PrefillSm90Kernel<Config>>(config, maps[0], maps[1], maps[2], problem,
                                                   loads);
}

}  // namespace fictl::attention
