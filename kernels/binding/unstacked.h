// Unstacked: the keys or the values of a cache that stacks both.
#pragma once

#include <binding/view.h>

namespace fictl {

// The first or second part of a cache (pages, 2, ...), all of one with 1 in place of the 2, or any
// other tensor as it is. Why here: two views take Python longer than all else that a call does
// there.
struct Unstacked {
  int64_t shape[4];
  int64_t strides[4];
  DLTensor tensor;
  View view;

  Unstacked(View x, int part) : view(&tensor) {
    if (x.ndim() != 5) {
      view = x;
      return;
    }
    for (int to = 0, from = 0; to < 4; ++to, ++from) {
      if (from == 1) ++from;
      shape[to] = x.size(from);
      strides[to] = x.stride(from);
    }
    const int64_t start = x.size(1) == 1 ? 0 : part * x.stride(1) * (x.dtype().bits / 8);
    tensor = {
        x.data<char>(), x.device(), 4, x.dtype(), shape, strides, static_cast<uint64_t>(start)};
  }
  Unstacked(const Unstacked&) = delete;
  Unstacked& operator=(const Unstacked&) = delete;
};

}  // namespace fictl
