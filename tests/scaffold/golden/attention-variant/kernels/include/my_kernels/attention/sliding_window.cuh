// sliding_window: attention to keys where abs(q_idx - kv_idx) <= window.
//
// The kernel is that of <fictl/attention/attend.cuh>. A block has a tile of queries, walks over the
// keys in tiles of shared memory, and keeps the running maximum and sum of the softmax, so that
// scores never reach memory. Its header gives its traffic and the reasons of its tiling.
//
// The mask is asked once for each score, between the two products: does the query see this key?
// Where a whole tile of keys is hidden, it is cheaper not to visit it: see `end` in op.py's _work.
#pragma once

#include <fictl/attention/attend.cuh>

namespace my_kernels::attention {

// A query sees a key where abs(q_idx - kv_idx) <= window.
struct SlidingWindowVariant : fictl::attention::Plain {
  int window;

  static constexpr bool kMasks = true;
  __device__ bool keeps(const fictl::attention::Place& at) const {
    return abs(at.query - at.key) <= window;
  }
};

// The parameters that a kernel is compiled for. A tile's rows are queries, one row for each of
// their heads that share a head of the keys.
template <typename T, int kDim, int kTileRows>
struct SlidingWindowConfig {
  using Q = T;
  using O = T;
  using Keys = fictl::attention::RaggedKeys<T>;
  using Variant = SlidingWindowVariant;
  static constexpr int kHeadDim = kDim;
  static constexpr int kRows = kTileRows;
  static constexpr bool kRope = false;
};

}  // namespace my_kernels::attention
