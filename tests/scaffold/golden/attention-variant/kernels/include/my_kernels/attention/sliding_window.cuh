// sliding_window: attention to keys where abs(q_idx - kv_idx) <= window.
//
// The kernel is that of <fictl/attention/attend.cuh>: a block has a tile of queries in registers,
// goes through the keys in tiles of shared memory, and keeps the running maximum and sum of the
// softmax, so that scores never reach memory. Its header says what it moves and why it is tiled so.
//
// What is here is asked once a score, between the two products: is this key seen? Where the answer
// is the same for a whole tile of keys, it is cheaper not to go there: see `end` in op.py's _work.
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

// What a kernel is compiled for: rows of a tile are queries, for each of their heads that share one
// of the keys.
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
