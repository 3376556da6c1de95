// A paged cache of nvfp4: bytes of two values, and a scale for each block of 16 values in a cache
// of its own, of the same pages.
#pragma once

#include <binding/paged.h>

namespace fictl {

constexpr int64_t kFp4CacheBlock = 16;

struct Fp4Pages {
  PagedView packed;
  PagedView scales;

  int64_t pages() const { return packed.tensor.size(0); }
  int64_t page_size() const { return packed.page_size; }
};

// The global scale of a cache: one number that the kernel reads, or, where it is null, this one.
struct KvScaleView {
  const View* tensor;
  double number;
};

struct NamedTensor {
  const char* name;
  View tensor;
};

inline void check_kv_layout(const char* op, const char* layout) {
  const bool known =
      (layout[0] == 'N' && layout[1] == 'H') || (layout[0] == 'H' && layout[1] == 'N');
  if (known && layout[2] == 'D' && layout[3] == 0) return;
  throw argument_error(ErrorKind::ValueError, op, "kv_layout")
      << "is '" << layout << "'; it is 'NHD' or 'HND'";
}

inline void check_bytes(const char* op, const NamedTensor& cache, bool e4m3) {
  const auto& [name, x] = cache;
  if (!same_dtype(x.dtype(), kUInt8) && !(e4m3 && same_dtype(x.dtype(), kFloat8E4M3))) {
    throw argument_error(ErrorKind::TypeError, op, name)
        << "has dtype " << x.dtype() << "; accepted: " << (e4m3 ? "float8_e4m3fn, " : "")
        << "uint8";
  }
  if (x.size(-1) <= 1 || x.stride(-1) == 1) return;
  throw argument_error(ErrorKind::ValueError, op, name)
      << "has strides " << Strides{x} << ": the last dimension must be contiguous (stride 1)";
}

inline void check_fp4_pages(const char* op, const NamedTensor& cache, const NamedTensor& scales,
                            const Fp4Pages& pages, int64_t heads, int64_t dim) {
  if (dim % kFp4CacheBlock != 0) {
    throw argument_error(ErrorKind::ValueError, op, cache.name)
        << "is to hold heads of " << dim << " values; dim is a multiple of " << kFp4CacheBlock
        << ", the values of a scale";
  }
  check_bytes(op, cache, false);
  check_bytes(op, scales, true);
  const int64_t slots = pages.page_size() > 0 ? pages.page_size() : 1;
  check_pages(op, cache.name, pages.packed, slots, heads, dim / 2);
  check_pages(op, scales.name, pages.scales, slots, heads, dim / kFp4CacheBlock);
  if (pages.scales.tensor.size(0) == pages.pages()) return;
  throw argument_error(ErrorKind::ValueError, op, scales.name)
      << "has " << pages.scales.tensor.size(0) << " pages, '" << cache.name << "' "
      << pages.pages();
}

// The keys or the values of a cache and of its scales, `part` of tensors that stack both.
inline Fp4Pages fp4_heads(const char* op, const NamedTensor& cache, int cache_part,
                          const NamedTensor& scales, int scales_part, bool hnd, int64_t heads,
                          int64_t dim) {
  Fp4Pages pages{paged_heads(op, cache.name, cache.tensor, hnd, cache_part),
                 paged_heads(op, scales.name, scales.tensor, hnd, scales_part)};
  check_fp4_pages(op, cache, scales, pages, heads, dim);
  return pages;
}

inline Fp4Pages fp4_latent(const char* op, const NamedTensor& cache, const NamedTensor& scales,
                           int64_t dim) {
  Fp4Pages pages{paged_latent(op, cache.name, cache.tensor),
                 paged_latent(op, scales.name, scales.tensor)};
  check_fp4_pages(op, cache, scales, pages, 1, dim);
  return pages;
}

}  // namespace fictl
