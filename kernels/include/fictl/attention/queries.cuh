// The queries of an item on their way to shared memory.
#pragma once

#include <fictl/attention/problem.cuh>
#include <fictl/attention/row.cuh>
#include <fictl/attention/tile.cuh>

namespace fictl::attention {

// Begins to copy them; rows beyond those of the request become zero.
template <int kThreads, int kColumns, typename Config>
__device__ void copy_queries(Tile<typename Config::Q, kColumns> to, const Problem<Config>& problem,
                             const Item& item, int kv_head) {
  copy_rows<Config::kRows, kThreads, Config::kHeadDim>(
      to, [&](int row) -> const typename Config::Q* {
        const Row own = row_of(problem, item.row + row, kv_head);
        return own.query < item.q_len ? problem.q.row(item.q_start + own.query, own.head) : nullptr;
      });
}

// Each by its position among the keys, in place; `turns` as in rotate_rows().
template <int kThreads, int kColumns, typename Config>
__device__ void rotate_queries(Tile<typename Config::Q, kColumns> q, const Problem<Config>& problem,
                               const Item& item, int kv_head, const double* turns) {
  const auto position_of = [&](int row) {
    return item.kv_len - item.q_len + row_of(problem, item.row + row, kv_head).query;
  };
  rotate_rows<Config::kRows, kThreads, Config::kHeadDim>(q, q, turns, position_of,
                                                         static_cast<int>(threadIdx.x));
}

}  // namespace fictl::attention
