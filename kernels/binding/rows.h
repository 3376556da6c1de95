// Two tensors of one shape walked together, as rows of neighbouring elements.
#pragma once

#include <binding/launch.h>

namespace fictl {

// All in elements.
struct Rows {
  int64_t rows;
  int64_t cols;
  int64_t out_pitch;
  int64_t input_pitch;
};

namespace detail {

struct Dim {
  int64_t size;
  int64_t out_stride;
  int64_t input_stride;
};

// The dimensions that matter, from the largest stride of `out` to the smallest, with those that
// continue one another merged; returns how many are left.
inline int merge_dims(View out, View input, Dim* dims) {
  int count = 0;
  for (int dim = 0; dim < out.ndim(); ++dim) {
    if (out.size(dim) == 1) continue;
    const Dim added{out.size(dim), out.stride(dim), input.stride(dim)};
    int at = count++;
    for (; at > 0 && dims[at - 1].out_stride < added.out_stride; --at) dims[at] = dims[at - 1];
    dims[at] = added;
  }
  int merged = 0;
  for (int i = 1; i < count; ++i) {
    Dim& outer = dims[merged];
    const Dim& inner = dims[i];
    if (outer.out_stride == inner.size * inner.out_stride &&
        outer.input_stride == inner.size * inner.input_stride) {
      outer = {outer.size * inner.size, inner.out_stride, inner.input_stride};
    } else {
      dims[++merged] = inner;
    }
  }
  return count == 0 ? 0 : merged + 1;
}

}  // namespace detail

inline Rows collapse(const Launch& launch, const char* out_name, View out, const char* input_name,
                     View input) {
  constexpr int kMaxDims = 64;
  detail::Dim dims[kMaxDims];
  if (out.numel() == 0) return {0, 0, 0, 0};
  if (out.ndim() <= kMaxDims) {
    int count = detail::merge_dims(out, input, dims);
    Rows rows{1, 1, 0, 0};
    if (count > 0 && dims[count - 1].out_stride == 1 && dims[count - 1].input_stride == 1) {
      rows.cols = dims[--count].size;
    }
    if (count == 0) return rows;
    rows = {dims[0].size, rows.cols, dims[0].out_stride, dims[0].input_stride};
    const bool out_overlaps = rows.out_pitch < rows.cols;
    if (count == 1 && !out_overlaps) return rows;
  }
  FICTL_THROW(ValueError) << launch.op << ": arguments '" << out_name << "' with shape "
                          << Shape{out} << " and strides " << Strides{out} << ", '" << input_name
                          << "' with strides " << Strides{input}
                          << " are not rows of neighbouring elements; pass " << input_name
                          << ".contiguous() and a contiguous " << out_name;
}

}  // namespace fictl

#define COLLAPSE(launch, out, input) ::fictl::collapse(launch, #out, out, #input, input)
