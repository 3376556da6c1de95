// Tensors of one shape walked together, as rows of contiguous elements.
#pragma once

#include <binding/launch.h>

namespace fictl {

// Sizes and strides in elements; one pitch (stride between rows) per tensor, in their order.
template <int N>
struct Rows {
  int64_t rows;
  int64_t cols;
  int64_t pitch[N];
};

namespace detail {

// One dimension: its size, and its stride in each tensor.
template <int N>
struct Dim {
  int64_t size;
  int64_t stride[N];

  // True if in every tensor one step of this dimension spans all of `inner`, so that both merge.
  bool continues(const Dim& inner) const {
    bool all = true;
    for (int i = 0; i < N; ++i) all &= stride[i] == inner.size * inner.stride[i];
    return all;
  }

  bool contiguous() const {
    bool all = true;
    for (int i = 0; i < N; ++i) all &= stride[i] == 1;
    return all;
  }
};

// Sorts the dimensions of size above 1 by the first tensor's stride, largest first, and merges
// those that continue one another. Returns how many are left.
template <int N>
int merge_dims(const View (&tensors)[N], Dim<N>* dims) {
  int count = 0;
  for (int dim = 0; dim < tensors[0].ndim(); ++dim) {
    if (tensors[0].size(dim) == 1) continue;
    Dim<N> added{tensors[0].size(dim)};
    for (int i = 0; i < N; ++i) added.stride[i] = tensors[i].stride(dim);
    int at = count++;
    for (; at > 0 && dims[at - 1].stride[0] < added.stride[0]; --at) dims[at] = dims[at - 1];
    dims[at] = added;
  }
  int merged = 0;
  for (int i = 1; i < count; ++i) {
    if (dims[merged].continues(dims[i])) {
      const int64_t size = dims[merged].size * dims[i].size;
      dims[merged] = dims[i];
      dims[merged].size = size;
    } else {
      dims[++merged] = dims[i];
    }
  }
  return count == 0 ? 0 : merged + 1;
}

}  // namespace detail

// Throws if the tensors are not rows of one length and stride. The first tensor is the one written,
// so its rows must not overlap.
template <int N>
Rows<N> collapse(const char* op, const char* names, const View (&tensors)[N]) {
  constexpr int kMaxDims = 64;
  detail::Dim<N> dims[kMaxDims];
  if (tensors[0].numel() == 0) return {};
  if (tensors[0].ndim() <= kMaxDims) {
    int count = detail::merge_dims(tensors, dims);
    Rows<N> rows{1, 1};
    if (count > 0 && dims[count - 1].contiguous()) rows.cols = dims[--count].size;
    if (count == 0) return rows;
    rows.rows = dims[0].size;
    for (int i = 0; i < N; ++i) rows.pitch[i] = dims[0].stride[i];
    if (count == 1 && rows.pitch[0] >= rows.cols) return rows;
  }
  Error error(ErrorKind::ValueError);
  error << op << ": arguments " << names << " of shape " << Shape{tensors[0]} << " have strides ";
  for (int i = 0; i < N; ++i) error << (i == 0 ? "" : ", ") << Strides{tensors[i]};
  throw error << ": they are not rows of contiguous elements; pass contiguous tensors, as "
                 ".contiguous() makes them";
}

}  // namespace fictl

// The tensors as Rows: COLLAPSE(launch, out, x, y).
#define COLLAPSE(launch, ...) ::fictl::collapse((launch).op, #__VA_ARGS__, {__VA_ARGS__})
