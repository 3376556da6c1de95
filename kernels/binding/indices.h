// Index tensors: one-dimensional, int32 or int64, any stride.
#pragma once

#include <binding/launch.h>

namespace fictl {

// Checks that x has shape (count,), and returns it as device::Indices, passed as a template
// argument so that this header includes no kernel.
template <typename Indices>
Indices indices(const Launch& launch, const char* name, View x, int64_t count) {
  if (!same_dtype(x.dtype(), kInt32) && !same_dtype(x.dtype(), kInt64)) {
    throw argument_error(ErrorKind::ValueError, launch.op, name)
        << "has dtype " << x.dtype() << "; accepted: int32, int64";
  }
  if (x.ndim() != 1 || x.size(0) != count) {
    throw argument_error(ErrorKind::ValueError, launch.op, name)
        << "has shape " << Shape{x} << "; it is (" << count << ",)";
  }
  return {x.data<const int32_t>(), x.stride(0) * (x.dtype().bits / 32)};
}

}  // namespace fictl
