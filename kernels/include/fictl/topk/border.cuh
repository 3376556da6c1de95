// Which elements of a row are chosen, by their keys.
#pragma once

#include <fictl/topk/select.cuh>

namespace fictl::topk {

// Chosen are the keys above it, and `needed` of those equal to it.
struct Border {
  uint32_t least;
  uint32_t most;
  bool is_wide;  // more are at it than are needed; else none is, and from `least` on all are above
  int equals;
  int needed;

  __device__ Border(const Selected& selected, int k)
      : least(selected.least),
        most(selected.most),
        is_wide(selected.above + selected.count > k),
        equals(selected.count),
        needed(k - selected.above) {}

  __device__ bool above(uint32_t key) const { return is_wide ? key > most : key >= least; }
  __device__ bool at(uint32_t key) const { return is_wide && key >= least && key <= most; }
};

}  // namespace fictl::topk
