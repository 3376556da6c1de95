// The limits of a filter (top_k, top_p, min_p): a number for all rows, or a tensor of one per row.
#pragma once

#include <binding/indices.h>

namespace fictl {

namespace detail {

// The data of a float32 tensor of shape (rows,); `step` is its stride.
inline const float* row_floats(const Launch& launch, const char* name, View x, int64_t rows,
                               int* step) {
  if (!same_dtype(x.dtype(), kFloat32)) {
    throw argument_error(ErrorKind::TypeError, launch.op, name)
        << "has dtype " << x.dtype() << "; pass " << name << ".float()";
  }
  if (x.ndim() != 1 || x.size(0) != rows) {
    throw argument_error(ErrorKind::ValueError, launch.op, name)
        << "has shape " << Shape{x} << "; it is a number, or one for each row, (" << rows << ",)";
  }
  *step = static_cast<int>(x.stride(0));
  return x.data<const float>();
}

}  // namespace detail

// Fills a sampling::Filter, passed as a template argument so that this header includes no kernel.
// The numbers are used where there are no tensors.
template <typename Filter>
Filter filter_of(const Launch& launch, int64_t rows, const View* k, int64_t k_value,
                 const char* p_name, const View* p, double p_value) {
  constexpr int64_t kMost = 0x7fffffff;
  Filter filter;
  filter.p_value = static_cast<float>(p_value);
  filter.k_value = static_cast<int>(k_value < 0 ? 0 : k_value < kMost ? k_value : kMost);
  if (p != nullptr) filter.p = detail::row_floats(launch, p_name, *p, rows, &filter.p_step);
  if (k != nullptr) filter.k = indices<decltype(filter.k)>(launch, "top_k", *k, rows);
  return filter;
}

}  // namespace fictl
