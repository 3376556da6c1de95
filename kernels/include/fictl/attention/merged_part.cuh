// A few contiguous elements of a row: their sums over parts of its keys, and their way to memory.
#pragma once

#include <fictl/attention/epilogue.cuh>
#include <fictl/attention/problem.cuh>
#include <fictl/device/softmax.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::attention {

struct MergedPart {
  static constexpr int kOf = 4;
  using Sums = device::Vec<float, kOf>;

  device::SoftmaxState state;
  float sums[kOf] = {};

  // The mean of a part's values, of whose weights `lse` is the base-2 logarithm of the sum.
  __device__ void add(const Sums& mean, float lse) {
    const float kept = state.add(lse);
    add(mean, kept, state.weight(lse));
  }

  // The sums of a part, as its state weighs them.
  __device__ void add(const Sums& of_part, const device::SoftmaxState& state_of_part) {
    const float kept = state.add(state_of_part);
    add(of_part, kept, state.weight(state_of_part.max));
  }

  // The sum of parts whose states and sums are there. Why the largest maximum first: otherwise each
  // part would wait for two exponentials of the one before.
  template <typename StateOf, typename SumsOf>
  static __device__ MergedPart of(int count, StateOf state_of, SumsOf sums_of) {
    MergedPart all;
#pragma unroll 8
    for (int i = 0; i < count; ++i) all.state.max = fmaxf(all.state.max, state_of(i).x);
#pragma unroll 8
    for (int i = 0; i < count; ++i) {
      const float2 state = state_of(i);
      const float weight = all.state.weight(state.x);
      all.state.sum += state.y * weight;
      all.add(sums_of(i), 1.0f, weight);
    }
    return all;
  }

 private:
  __device__ void add(const Sums& more, float kept, float weight) {
#pragma unroll
    for (int i = 0; i < kOf; ++i) sums[i] = sums[i] * kept + more.data[i] * weight;
  }
};

// Stores elements of a tile's row, from `dim` on: as a part if the item is one, else as the result.
template <typename Config>
__device__ void store_merged(const Problem<Config>& problem, const Item& item, int kv_head, int row,
                             int dim, const MergedPart& merged) {
  if (item.partial >= 0) {
    const int64_t to = int64_t{item.partial} + row;
    const RowEnd end = end_part(merged.state);
    store_partial_out(problem, to, kv_head, dim, merged.sums, end.factor);
    if (dim == 0) store_partial_lse(problem, to, kv_head, end.lse);
    return;
  }
  const Place at = place_of(problem, item, row, kv_head);
  const int64_t token = int64_t{item.q_start} + at.query;
  const RowEnd end = end_row(problem, merged.state, at.head);
  store_out(problem, at, token, dim, merged.sums, end.factor);
  if (dim == 0) store_lse(problem, token, at.head, end.lse);
}

}  // namespace fictl::attention
