// Draws one token from each row of probabilities: from all of them, or from the most likely.
//
// Algorithm: the cumulative sum of what is kept, inverted at one random number. A row's tiles are
// summed up by warps; the first block finds the tile where the sum passes the number, reads it
// again and finds the token. What is kept are the values from a threshold upwards:
//   all            none
//   min-p          min_p times the largest, which a read before finds
//   top-k, top-p   what select.cuh finds; either, or both at once
//   top-k first    top-p of what top-k kept, as a part of its sum: select.cuh, twice
//
// Traffic: one read of the row from memory, none, one, one and two more of it from L2. See
// select.cuh for why, and for the tiling.
#pragma once

#include <fictl/sampling/filter.cuh>
#include <fictl/sampling/philox.cuh>
#include <fictl/sampling/select.cuh>

namespace fictl::sampling {

enum class Keep { kAll, kMinP, kTop, kTopKFirst };

// The largest value of the row that is above 0, or 0, in all threads of the cluster.
template <typename Select>
__device__ float largest_of(const Select& select, SelectStorage& storage) {
  uint32_t most = 0;
  select.each_tile([&](int, const LaneTile& lane) {
#pragma unroll
    for (int i = 0; i < kLaneValues; ++i) {
      const uint32_t key = WeightKey::of(lane.x[i]);
      most = key > most ? key : most;
    }
  });
  most = device::warp_max(most);
  // Why every block's: each tells all, and no second exchange is needed.
  if (threadIdx.x % device::kWarpSize == 0) {
    for (int rank = 0; rank < device::Cluster::size(); ++rank) {
      atomicMax(&device::Cluster::at(&storage, rank)->coarse.count[0], most);
    }
  }
  device::Cluster::sync();
  return value_of(storage.coarse.count[0]);
}

// Keeps of the row what is to be kept, with its sums.
template <Keep kKeep, typename Select>
__device__ void keep(Select& select, SelectStorage& storage, const Filter& filter, int64_t row) {
  if constexpr (kKeep == Keep::kAll) {
    device::Cluster::sync();
    select.keep_from(1, true);
  } else if constexpr (kKeep == Keep::kMinP) {
    device::Cluster::sync();
    const float most = largest_of(select, storage);
    const float least = filter.p_of(row) * most;
    const uint32_t key = WeightKey::of(least < most ? least : most);
    select.keep_from(key > 0 ? key : 1, true);
  } else if constexpr (kKeep == Keep::kTopKFirst) {
    select.count();
    Goal goal{filter.k_of(row), INFINITY};
    const float p = filter.p_of(row);
    const int times = p >= 1.0f ? 1 : 2;
#pragma unroll 1
    for (int i = 0; i < times; ++i) {
      select.select(goal, true);
      goal = {INT_MAX, Filter::mass(p, select.total_of_first())};
    }
  } else {
    select.count();
    select.select({filter.k_of(row), Filter::mass(filter.p_of(row))}, true);
  }
}

template <Keep kKeep, typename T>
__global__ void __launch_bounds__(kThreads)
    FromProbsKernel(Rows<T> probs, device::Indices rows, Filter filter, Draws draws, Drawn drawn) {
  FICTL_KERNEL("from_probs");
  extern __shared__ __align__(16) unsigned char shared[];
  SelectStorage& storage = *reinterpret_cast<SelectStorage*>(shared);
  constexpr bool kByMass = kKeep == Keep::kTop || kKeep == Keep::kTopKFirst;
  const int64_t i = blockIdx.x / device::Cluster::size();
  device::pdl_wait();
  device::pdl_trigger();
  const int64_t row = rows.data == nullptr ? i : rows[i];
  const bool draws_it = device::Cluster::rank() == 0 && threadIdx.x < device::kWarpSize;
  const float uniform = draws_it ? draws.of(i).uniform() : 0.0f;
  RowSelect<T, WeightKey, kByMass> select(probs[row], storage, fictl_profiler);
  keep<kKeep>(select, storage, filter, row);
  if (!draws_it) return;
  const int token = select.draw(uniform);
  if (threadIdx.x == 0) drawn.put(i, token);
}

template <Keep kKeep, typename T>
cudaError_t FromProbs(const Rows<T>& probs, device::Indices rows, int64_t batch,
                      const Filter& filter, const Draws& draws, const Drawn& drawn, int sm_count,
                      cudaStream_t stream, bool pdl) {
  if (batch == 0) return cudaSuccess;
  constexpr auto kernel = FromProbsKernel<kKeep, T>;
  return device::launch<kernel>(select_config<kernel>(batch, probs.size, sm_count, stream, pdl),
                                probs, rows, filter, draws, drawn);
}

}  // namespace fictl::sampling
