#include <binding/ffi.h>
#include <binding/paged_fp4.h>

namespace fictl::page {
void append_by_position(const Launch& launch, View append_key, View append_value,
                        const Fp4Pages& keys, const Fp4Pages& values, const KvScaleView& k_scale,
                        const KvScaleView& v_scale, const PositionViews& where, bool enable_pdl);
void append_by_slot(const Launch& launch, View append_key, View append_value, const Fp4Pages& keys,
                    const Fp4Pages& values, const KvScaleView& k_scale, const KvScaleView& v_scale,
                    View slot_mapping, bool enable_pdl);
void append_latent(const Launch& launch, View append_ckv, View append_kpe, const Fp4Pages& ckv,
                   const PagedView& kpe, const KvScaleView& ckv_scale, const KvScaleView& kpe_scale,
                   const PositionViews& where, bool enable_pdl);
}  // namespace fictl::page

namespace {

using fictl::ErrorKind;
using fictl::Fp4Pages;
using fictl::KvScaleView;
using fictl::NamedTensor;
using fictl::PagedView;
using fictl::PositionViews;
using fictl::Shape;
using fictl::View;
using tvm::ffi::Optional;

void check_scale(const char* op, const char* name, const View* scale, const NamedTensor& first) {
  if (scale == nullptr) return;
  fictl::check_same_device(op, name, *scale, first.name, first.tensor);
  fictl::check_dtype(op, name, *scale, fictl::kFloat32);
  if (scale->numel() == 1) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{*scale} << "; it is one number");
}

// Rows of new tokens, the first ones of which are appended.
void check_new(const char* op, const NamedTensor& append, int ndim, const NamedTensor& first) {
  const auto& [name, x] = append;
  fictl::check_same_device(op, name, x, first.name, first.tensor);
  fictl::check_same_dtype(op, name, x, first.name, first.tensor);
  if (x.ndim() != ndim) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
                 << "has shape " << Shape{x} << "; it is (tokens, "
                 << (ndim == 3 ? "heads, dim)" : "dim)"));
  }
  fictl::check_last_dim_contiguous(op, name, x);
}

void check_tokens(const char* op, const char* name, View x, int64_t tokens) {
  if (x.size(0) == tokens) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{x} << "; there are " << tokens << " tokens");
}

void check_where(const char* op, const PositionViews& where, const NamedTensor& first) {
  for (const auto& [name, x] : {std::pair("batch_indices", where.batch_indices),
                                {"positions", where.positions},
                                {"kv_indices", where.kv_indices},
                                {"kv_indptr", where.kv_indptr}}) {
    fictl::check_same_device(op, name, x, first.name, first.tensor);
  }
}

// Keys and values of a cache and of its scales, each in one tensor or in two.
struct Cache {
  View first;
  const View* second;

  View of(int part) const { return part == 1 && second != nullptr ? *second : first; }
  int stacked(int part) const { return second == nullptr ? part : -1; }
};

Fp4Pages heads_of(const char* op, const Cache& cache, const Cache& scales, int part, bool hnd,
                  View append) {
  constexpr const char* kCache = "paged_kv_cache";
  constexpr const char* kScales = "kv_cache_sf";
  const View to = cache.of(part);
  const View to_scales = scales.of(part);
  fictl::check_same_device(op, kCache, to, "append_key", append);
  fictl::check_same_device(op, kScales, to_scales, "append_key", append);
  return fictl::translate([&] {
    return fictl::fp4_heads(op, {kCache, to}, cache.stacked(part), {kScales, to_scales},
                            scales.stacked(part), hnd, append.size(1), append.size(2));
  });
}

void check_same_pages(const char* op, const char* name, int64_t slots, int64_t others) {
  if (slots == others) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has pages of " << slots << " slots beside others of " << others);
}

struct Pages {
  Fp4Pages keys;
  Fp4Pages values;
};

Pages checked(const char* op, View append_key, View append_value, const Cache& cache,
              const Cache& scales, const KvScaleView& k_scale, const KvScaleView& v_scale,
              const std::string& kv_layout) {
  fictl::check_device(op, "append_key", append_key);
  check_new(op, {"append_key", append_key}, 3, {"append_key", append_key});
  check_new(op, {"append_value", append_value}, 3, {"append_key", append_key});
  check_scale(op, "k_scale", k_scale.tensor, {"append_key", append_key});
  check_scale(op, "v_scale", v_scale.tensor, {"append_key", append_key});
  fictl::translate([&] { fictl::check_kv_layout(op, kv_layout.c_str()); });
  const bool hnd = kv_layout == "HND";
  Pages pages{heads_of(op, cache, scales, 0, hnd, append_key),
              heads_of(op, cache, scales, 1, hnd, append_value)};
  check_same_pages(op, "paged_kv_cache", pages.values.page_size(), pages.keys.page_size());
  if (pages.values.pages() != pages.keys.pages()) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "paged_kv_cache")
                 << "has " << pages.keys.pages() << " pages of keys, " << pages.values.pages()
                 << " of values");
  }
  return pages;
}

// paged_kv_cache, kv_cache_sf: keys and values in one tensor, or the keys if the next one is given.
void nvfp4_quantize_append_paged_kv_cache(
    View append_key, View append_value, View batch_indices, View positions, View paged_kv_cache,
    Optional<View> paged_kv_cache_1, View kv_cache_sf, Optional<View> kv_cache_sf_1,
    View kv_indices, View kv_indptr, View kv_last_page_len, Optional<View> k_scale, double k_number,
    Optional<View> v_scale, double v_number, std::string kv_layout, bool enable_pdl) {
  const KvScaleView k_global{pointer(k_scale), k_number};
  const KvScaleView v_global{pointer(v_scale), v_number};
  const Pages pages =
      checked(__func__, append_key, append_value, {paged_kv_cache, pointer(paged_kv_cache_1)},
              {kv_cache_sf, pointer(kv_cache_sf_1)}, k_global, v_global, kv_layout);
  check_tokens(__func__, "append_value", append_value, append_key.size(0));
  const PositionViews where{batch_indices, positions, kv_indices, kv_indptr, kv_last_page_len};
  check_where(__func__, where, {"append_key", append_key});
  fictl::call(__func__, append_key, fictl::page::append_by_position, append_key, append_value,
              pages.keys, pages.values, k_global, v_global, where, enable_pdl);
}

void check_slots(const char* op, View slot_mapping, View append_key, View append_value,
                 const Pages& pages) {
  fictl::check_same_device(op, "slot_mapping", slot_mapping, "append_key", append_key);
  fictl::check_dim(op, "slot_mapping", slot_mapping, 1);
  const int64_t tokens = slot_mapping.size(0);
  if (append_key.size(0) < tokens || append_value.size(0) < tokens) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "slot_mapping")
                 << "is of " << tokens << " tokens; 'append_key' has shape " << Shape{append_key}
                 << ", 'append_value' " << Shape{append_value} << ": they have no fewer");
  }
  const int64_t slots = pages.keys.pages() * pages.keys.page_size();
  if (slots <= INT32_MAX) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "paged_kv_cache")
               << "has " << slots << " slots; a slot mapping reaches " << INT32_MAX);
}

void nvfp4_quantize_append_paged_kv_cache_with_slot_mapping(
    View append_key, View append_value, View slot_mapping, View paged_kv_cache,
    Optional<View> paged_kv_cache_1, View kv_cache_sf, Optional<View> kv_cache_sf_1,
    Optional<View> k_scale, double k_number, Optional<View> v_scale, double v_number,
    std::string kv_layout, bool enable_pdl) {
  const KvScaleView k_global{pointer(k_scale), k_number};
  const KvScaleView v_global{pointer(v_scale), v_number};
  const Pages pages =
      checked(__func__, append_key, append_value, {paged_kv_cache, pointer(paged_kv_cache_1)},
              {kv_cache_sf, pointer(kv_cache_sf_1)}, k_global, v_global, kv_layout);
  check_slots(__func__, slot_mapping, append_key, append_value, pages);
  fictl::call(__func__, append_key, fictl::page::append_by_slot, append_key, append_value,
              pages.keys, pages.values, k_global, v_global, slot_mapping, enable_pdl);
}

PagedView rotated(const char* op, View kpe_cache, View append_kpe, int64_t page_size) {
  constexpr const char* kName = "kpe_cache";
  fictl::check_same_device(op, kName, kpe_cache, "append_kpe", append_kpe);
  fictl::check_dtype(op, kName, kpe_cache, {fictl::kFloat8E4M3, fictl::kUInt8});
  fictl::check_last_dim_contiguous(op, kName, kpe_cache);
  if (append_kpe.size(1) % fictl::kFp4CacheBlock != 0) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "append_kpe")
                 << "has shape " << Shape{append_kpe} << ", rows of no multiple of "
                 << fictl::kFp4CacheBlock);
  }
  return fictl::translate([&] {
    PagedView pages = fictl::paged_latent(op, kName, kpe_cache);
    fictl::check_pages(op, kName, pages, page_size, 1, append_kpe.size(1));
    return pages;
  });
}

void nvfp4_quantize_append_paged_mla_kv_cache(View append_ckv, View append_kpe, View batch_indices,
                                              View positions, View ckv_cache, View ckv_sf_cache,
                                              View kpe_cache, View kv_indices, View kv_indptr,
                                              View kv_last_page_len, Optional<View> ckv_scale,
                                              double ckv_number, Optional<View> kpe_scale,
                                              double kpe_number, bool enable_pdl) {
  const NamedTensor first{"append_ckv", append_ckv};
  fictl::check_device(__func__, "append_ckv", append_ckv);
  check_new(__func__, first, 2, first);
  check_new(__func__, {"append_kpe", append_kpe}, 2, first);
  check_tokens(__func__, "append_kpe", append_kpe, append_ckv.size(0));
  fictl::check_same_device(__func__, "ckv_cache", ckv_cache, "append_ckv", append_ckv);
  fictl::check_same_device(__func__, "ckv_sf_cache", ckv_sf_cache, "append_ckv", append_ckv);
  const KvScaleView ckv_global{pointer(ckv_scale), ckv_number};
  const KvScaleView kpe_global{pointer(kpe_scale), kpe_number};
  check_scale(__func__, "ckv_scale", ckv_global.tensor, first);
  check_scale(__func__, "kpe_scale", kpe_global.tensor, first);
  const Fp4Pages ckv = fictl::translate([&] {
    return fictl::fp4_latent(__func__, {"ckv_cache", ckv_cache}, {"ckv_sf_cache", ckv_sf_cache},
                             append_ckv.size(1));
  });
  const PagedView kpe = rotated(__func__, kpe_cache, append_kpe, ckv.page_size());
  if (kpe.tensor.size(0) != ckv.pages()) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, __func__, "kpe_cache")
                 << "has " << kpe.tensor.size(0) << " pages, 'ckv_cache' " << ckv.pages());
  }
  const PositionViews where{batch_indices, positions, kv_indices, kv_indptr, kv_last_page_len};
  check_where(__func__, where, first);
  fictl::call(__func__, append_ckv, fictl::page::append_latent, append_ckv, append_kpe, ckv, kpe,
              ckv_global, kpe_global, where, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(nvfp4_quantize_append_paged_kv_cache,
                              nvfp4_quantize_append_paged_kv_cache);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(nvfp4_quantize_append_paged_kv_cache_with_slot_mapping,
                              nvfp4_quantize_append_paged_kv_cache_with_slot_mapping);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(nvfp4_quantize_append_paged_mla_kv_cache,
                              nvfp4_quantize_append_paged_mla_kv_cache);
