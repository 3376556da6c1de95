// Rows of probabilities or logits, as sampling kernels read them.
#pragma once

#include <binding/row_pitch.h>

namespace fictl {

// A row has 1 to `most` elements, more than which the kernels do not sample from.
inline void check_row_length(const Launch& launch, const char* name, View x, int64_t most) {
  if (x.size(-1) >= 1 && x.size(-1) <= most) return;
  throw argument_error(ErrorKind::ValueError, launch.op, name)
      << "has shape " << Shape{x} << "; a row has 1 to " << most << " elements";
}

// Fills a sampling::Rows, passed as a template argument so that this header includes no kernel.
template <typename Rows, typename T>
Rows sampled_rows(const Launch& launch, const char* name, View x, int64_t most) {
  const int64_t pitch = row_pitch(launch.op, name, x);
  check_row_length(launch, name, x, most);
  if (x.size(0) > INT32_MAX) {
    throw argument_error(ErrorKind::ValueError, launch.op, name)
        << "has shape " << Shape{x} << "; pass up to " << INT32_MAX << " rows at a time";
  }
  const T* data = x.data<const T>();
  constexpr int64_t kVecBytes = 4 * sizeof(T);
  const bool aligned = reinterpret_cast<uintptr_t>(data) % kVecBytes == 0 && pitch % 4 == 0;
  return {data, pitch, static_cast<int>(x.size(0)), static_cast<int>(x.size(1)), aligned};
}

}  // namespace fictl
