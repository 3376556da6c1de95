// The queries of an item on their way to shared memory.
#pragma once

#include <type_traits>

#include <fictl/attention/problem.cuh>
#include <fictl/attention/row.cuh>
#include <fictl/attention/tile.cuh>
#include <fictl/device/widen.cuh>

namespace fictl::attention {

// Type of the queries that tensor cores multiply: fp16 for those of 8 bits, whose values it holds.
template <typename Q>
using Widened = std::conditional_t<sizeof(Q) == 1, __half, Q>;

// Loads rows of kElements of 8 bits into a tile of 16: no copy converts. `from(row)` is where a row
// starts; null makes it zero.
template <int kRows, int kThreads, int kElements, typename T, typename To, int kColumns,
          typename From>
__device__ void widen_rows(Tile<To, kColumns> to, From from) {
  constexpr int kOf = device::kVecBytes;  // elements of a load
  static_assert(kElements % kOf == 0 && kColumns % kOf == 0, "whole loads");
  constexpr int kLoads = kColumns / kOf;
#pragma unroll 2
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kLoads; i += kThreads) {
    const int row = i / kLoads;
    const int load = i % kLoads;
    const T* start = from(row);
    uint4 wide[2] = {};
    if (start != nullptr && load < kElements / kOf) {
      device::widen<To, T>(device::load_l2<kOf>(start + load * kOf).bits(), wide);
    }
    *reinterpret_cast<uint4*>(to.chunk(row, 2 * load)) = wide[0];
    *reinterpret_cast<uint4*>(to.chunk(row, 2 * load + 1)) = wide[1];
  }
}

// Begins to copy them; rows beyond those of the request become zero. Those of 8 bits are there at
// the next barrier.
template <int kThreads, int kColumns, typename Config>
__device__ void copy_queries(Tile<Widened<typename Config::Q>, kColumns> to,
                             const Problem<Config>& problem, const Item& item, int kv_head) {
  using Q = typename Config::Q;
  const auto from = [&](int row) -> const Q* {
    const Row own = row_of(problem, item.row + row, kv_head);
    return own.query < item.q_len ? problem.q.row(item.q_start + own.query, own.head) : nullptr;
  };
  if constexpr (std::is_same_v<Q, Widened<Q>>) {
    copy_rows<Config::kRows, kThreads, Config::kHeadDim>(to, from);
  } else {
    widen_rows<Config::kRows, kThreads, Config::kHeadDim, Q>(to, from);
  }
}

// Each by its position among the keys, in place; `turns` as in rotate_rows().
template <int kThreads, int kColumns, typename Config>
__device__ void rotate_queries(Tile<Widened<typename Config::Q>, kColumns> q,
                               const Problem<Config>& problem, const Item& item, int kv_head,
                               const double* turns) {
  const auto position_of = [&](int row) {
    return item.kv_len - item.q_len + row_of(problem, item.row + row, kv_head).query;
  };
  rotate_rows<Config::kRows, kThreads, Config::kHeadDim>(q, q, turns, position_of,
                                                         static_cast<int>(threadIdx.x));
}

}  // namespace fictl::attention
