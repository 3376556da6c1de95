// Tensors seen as rows: their last dimension is a row, all rows are at one distance.
#pragma once

#include <binding/launch.h>

namespace fictl {

// From a row to the next, in elements. Of one that is `written` the rows may not overlap.
// Why not always a stride: that of a dimension of size 1 may be anything.
inline int64_t row_pitch(const Launch& launch, const char* name, View x, bool written = false) {
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
  Error error(ErrorKind::ValueError);
  error << launch.op << ": argument '" << name << "' has shape " << Shape{x} << " and strides "
        << Strides{x};
  if (regular) throw error << ": its rows overlap; pass a contiguous " << name;
  throw error << ": it is not rows of neighbouring elements at one distance; pass " << name
              << ".contiguous()";
}

}  // namespace fictl

#define ROW_PITCH(launch, x) ::fictl::row_pitch(launch, #x, x)
#define WRITTEN_ROW_PITCH(launch, x) ::fictl::row_pitch(launch, #x, x, true)
