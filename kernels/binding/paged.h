// A paged KV cache of any layout, as sizes and strides.
#pragma once

#include <binding/launch.h>

namespace fictl {

// The keys or the values of a cache. The pitches are strides in elements, and 0 for a dimension of
// size 1, whose stride DLPack leaves undefined.
struct PagedView {
  View tensor;
  int64_t start;  // offset of the first row, in elements
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

// Which request and position each token has, and the pages of the requests.
struct PositionViews {
  View batch_indices;
  View positions;
  View kv_indices;
  View kv_indptr;
  View kv_last_page_len;
};

inline int64_t pitch(View x, int dim) { return x.size(dim) > 1 ? x.stride(dim) : 0; }

// A cache with one row per slot, as MLA has it: (pages, page_size, dim).
inline PagedView paged_latent(const char* op, const char* name, View x) {
  if (x.ndim() == 3) return {x, 0, x.size(1), 1, x.size(2), pitch(x, 0), pitch(x, 1), 0};
  throw argument_error(ErrorKind::ValueError, op, name)
      << "has shape " << Shape{x} << "; it is (pages, page_size, dim)";
}

// A cache of (pages, page_size, heads, dim), or (pages, heads, page_size, dim) if `hnd`; with a
// page size of 1 that dimension may be missing. A tensor that stacks keys and values has a second
// dimension of 2: `part` selects 0 or 1 of it, and is -1 for a tensor that does not stack.
inline PagedView paged_heads(const char* op, const char* name, View x, bool hnd, int part = -1) {
  const bool stacked = part >= 0;
  const bool slots = x.ndim() == (stacked ? 5 : 4);
  const bool fits = slots || x.ndim() == (stacked ? 4 : 3);
  if (!fits || (stacked && x.size(1) != 2)) {
    throw argument_error(ErrorKind::ValueError, op, name)
        << "has shape " << Shape{x} << "; it is (pages, " << (stacked ? "2, " : "")
        << (hnd ? "heads, page_size" : "page_size, heads") << ", dim)";
  }
  const int64_t start = stacked ? part * x.stride(1) : 0;
  const int head = hnd && slots ? -3 : -2;
  const int slot = hnd ? -2 : -3;
  return {x,          start,       slots ? x.size(slot) : 1,   x.size(head),
          x.size(-1), pitch(x, 0), slots ? pitch(x, slot) : 0, pitch(x, head)};
}

// Throws unless the pages have this many slots, heads and elements.
inline void check_pages(const char* op, const char* name, const PagedView& cache, int64_t page_size,
                        int64_t heads, int64_t dim) {
  if (cache.page_size == page_size && cache.heads == heads && cache.dim == dim) return;
  throw argument_error(ErrorKind::ValueError, op, name)
      << "has shape " << Shape{cache.tensor} << ", which is pages of " << cache.page_size
      << " slots of " << cache.heads << " x " << cache.dim << "; expected " << page_size
      << " slots of " << heads << " x " << dim;
}

}  // namespace fictl
