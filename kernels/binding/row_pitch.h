// Tensors as rows along the last dimension, all rows at one stride.
#pragma once

#include <binding/launch.h>

namespace fictl {

// The stride from one row to the next, in elements. Rows of a tensor that is `written` must not
// overlap. Why it is computed: the stride of a dimension of size 1 is undefined.
inline int64_t row_pitch(const char* op, const char* name, View x, bool written = false) {
  const int64_t cols = x.size(-1);
  if (x.numel() == 0) return cols;
  int64_t rows = 1;
  int64_t pitch = cols;
  bool regular = cols == 1 || x.stride(-1) == 1;
  for (int dim = x.ndim() - 2; dim >= 0; --dim) {
    if (x.size(dim) == 1) continue;
    if (rows == 1) pitch = x.stride(dim);
    regular &= x.stride(dim) == rows * pitch;
    rows *= x.size(dim);
  }
  if (regular && (pitch >= cols || !written)) return pitch;
  Error error = argument_error(ErrorKind::ValueError, op, name);
  error << "has shape " << Shape{x} << " and strides " << Strides{x};
  if (regular) throw error << ": its rows overlap; pass a contiguous " << name;
  throw error << ": the last dimension must be contiguous (stride 1), and all rows at one stride; "
                 "pass "
              << name << ".contiguous()";
}

}  // namespace fictl

#define ROW_PITCH(launch, x) ::fictl::row_pitch((launch).op, #x, x)
#define WRITTEN_ROW_PITCH(launch, x) ::fictl::row_pitch((launch).op, #x, x, true)
