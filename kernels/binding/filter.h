// How much of each row of a batch is to be kept: numbers, or tensors with one a row.
#pragma once

#include <binding/indices.h>

namespace fictl {

namespace detail {

// Of one dimension, `rows` of fp32; `step` is from a row's to the next one's.
inline const float* row_floats(const Launch& launch, const char* name, View x, int64_t rows,
                               int* step) {
  constexpr DLDataType kFloat{kDLFloat, 32, 1};
  if (!same_dtype(x.dtype(), kFloat)) {
    throw Error(ErrorKind::TypeError) << launch.op << ": argument '" << name << "' has dtype "
                                      << x.dtype() << "; pass " << name << ".float()";
  }
  if (x.ndim() != 1 || x.size(0) != rows) {
    throw Error(ErrorKind::ValueError)
        << launch.op << ": argument '" << name << "' has shape " << Shape{x}
        << "; it is a number, or one for each row, (" << rows << ",)";
  }
  *step = static_cast<int>(x.stride(0));
  return x.data<const float>();
}

}  // namespace detail

// As sampling::Filter, which this header need not know. The numbers count where there are no
// tensors.
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
