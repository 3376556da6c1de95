// A paged cache, whatever its layout, as sizes and distances.
#pragma once

#include <binding/launch.h>

namespace fictl {

// Of the keys or of the values. Why not always the strides: that of a dimension of size 1 may be
// anything.
struct PagedView {
  View tensor;
  int64_t start;  // of the first row, in elements
  int64_t page_size;
  int64_t heads;
  int64_t dim;
  int64_t page_pitch;
  int64_t slot_pitch;
  int64_t head_pitch;

  template <typename T>
  T* data() const {
    return tensor.data<T>() + start;
  }
};

inline int64_t pitch(View x, int dim) { return x.size(dim) > 1 ? x.stride(dim) : 0; }

// One row a slot, as of MLA: (pages, page_size, dim).
inline PagedView paged_latent(const Launch& launch, const char* name, View x) {
  if (x.ndim() == 3) return {x, 0, x.size(1), 1, x.size(2), pitch(x, 0), pitch(x, 1), 0};
  throw Error(ErrorKind::ValueError) << launch.op << ": argument '" << name << "' has shape "
                                     << Shape{x} << "; it is (pages, page_size, dim)";
}

// (pages, page_size, heads, dim), or (pages, heads, page_size, dim) where it is `hnd`; a page of
// one slot may do without that dimension. One with keys and values has a second dimension of 2, of
// which `part` is meant: 0 or 1, and -1 where there is none.
inline PagedView paged_heads(const Launch& launch, const char* name, View x, bool hnd,
                             int part = -1) {
  const bool stacked = part >= 0;
  const bool slots = x.ndim() == (stacked ? 5 : 4);
  const bool fits = slots || x.ndim() == (stacked ? 4 : 3);
  if (!fits || (stacked && x.size(1) != 2)) {
    throw Error(ErrorKind::ValueError)
        << launch.op << ": argument '" << name << "' has shape " << Shape{x} << "; it is (pages, "
        << (stacked ? "2, " : "") << (hnd ? "heads, page_size" : "page_size, heads") << ", dim)";
  }
  const int64_t start = stacked ? part * x.stride(1) : 0;
  const int head = hnd && slots ? -3 : -2;
  const int slot = hnd ? -2 : -3;
  return {x,          start,       slots ? x.size(slot) : 1,   x.size(head),
          x.size(-1), pitch(x, 0), slots ? pitch(x, slot) : 0, pitch(x, head)};
}

}  // namespace fictl
