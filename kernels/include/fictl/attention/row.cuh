// Which query and which head a packed row of a tile is.
#pragma once

#include <fictl/attention/problem.cuh>
#include <fictl/attention/variant.cuh>

namespace fictl::attention {

// A packed row of a request: which of its queries, and which of all heads.
struct Row {
  int query;
  int head;
};

template <typename Config>
__device__ Row row_of(const Problem<Config>& problem, int packed, int kv_head) {
  const device::Divisor::Result at = problem.group.divide(packed);
  return {at.quotient, kv_head * problem.group.divisor() + at.remainder};
}

// The same of the item's tile, as variants are told of it; its key is still to be said.
template <typename Config>
__device__ Place place_of(const Problem<Config>& problem, const Item& item, int row, int kv_head) {
  const Row own = row_of(problem, item.row + row, kv_head);
  return {item.request, own.query,   0,         own.head,    kv_head,
          item.q_len,   item.kv_len, item.mask, item.q_start};
}

}  // namespace fictl::attention
