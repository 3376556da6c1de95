// Rows of probabilities or logits, as sampling kernels read them.
#pragma once

#include <binding/row_pitch.h>

namespace fictl {

// As Rows of the module's type, which this header need not know.
template <typename Rows, typename T>
Rows sampled_rows(const Launch& launch, const char* name, View x, int64_t most) {
  constexpr int64_t kMostRows = 0x7fffffff;
  const int64_t pitch = row_pitch(launch, name, x);
  if (x.size(1) < 1 || x.size(1) > most || x.size(0) > kMostRows) {
    throw Error(ErrorKind::ValueError) << launch.op << ": argument '" << name << "' has shape "
                                       << Shape{x} << "; a row has 1 to " << most << " elements";
  }
  const T* data = x.data<const T>();
  constexpr int64_t kVecBytes = 4 * sizeof(T);
  const bool aligned = reinterpret_cast<uintptr_t>(data) % kVecBytes == 0 && pitch % 4 == 0;
  return {data, pitch, static_cast<int>(x.size(0)), static_cast<int>(x.size(1)), aligned};
}

}  // namespace fictl
