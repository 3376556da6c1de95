// Tensors of one dimension whose numbers are indices: int32 or int64, at any stride.
#pragma once

#include <binding/launch.h>

namespace fictl {

// Integers of one dimension, `count` of them, as device::Indices, which this header need not know.
template <typename Indices>
Indices indices(const Launch& launch, const char* name, View x, int64_t count) {
  constexpr int kHalf = 32;
  Error error(ErrorKind::ValueError);
  error << launch.op << ": argument '" << name << "' has ";
  if (x.dtype().code != kDLInt || (x.dtype().bits != kHalf && x.dtype().bits != 2 * kHalf)) {
    throw error << "dtype " << x.dtype() << "; it is int32 or int64";
  }
  if (x.ndim() != 1 || x.size(0) != count) {
    throw error << "shape " << Shape{x} << "; it is (" << count << ",)";
  }
  return {x.data<const int32_t>(), x.stride(0) * (x.dtype().bits / kHalf)};
}

}  // namespace fictl
