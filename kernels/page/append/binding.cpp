#include <binding/ffi.h>
#include <binding/paged.h>

namespace fictl::page {
void append_paged_kv_cache(const Launch& launch, View append_key, View append_value,
                           View batch_indices, View positions, const PagedView& keys,
                           const PagedView& values, View kv_indices, View kv_indptr,
                           View kv_last_page_len, bool enable_pdl);
void append_paged_mla_kv_cache(const Launch& launch, View append_ckv, View append_kpe,
                               View batch_indices, View positions, const PagedView* ckv_cache,
                               const PagedView* kpe_cache, View kv_indices, View kv_indptr,
                               View kv_last_page_len, bool enable_pdl);
}  // namespace fictl::page

namespace {

using fictl::ErrorKind;
using fictl::PagedView;
using fictl::Shape;
using fictl::View;
using tvm::ffi::Optional;

void check_layout(const char* op, const std::string& layout) {
  if (layout == "NHD" || layout == "HND") return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "kv_layout")
               << "is '" << layout.c_str() << "'; it is 'NHD' or 'HND'");
}

void check_whole_bytes(const char* op, const char* name, View x) {
  if (x.dtype().bits >= 8 && x.dtype().lanes == 1) return;
  fictl::raise(fictl::argument_error(ErrorKind::TypeError, op, name)
               << "has dtype " << x.dtype() << ", whose elements are not whole bytes");
}

void check_rows(const char* op, const char* name, View x, int ndim, int64_t tokens) {
  if (x.ndim() == ndim && x.size(0) == tokens) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{x} << "; it is (" << tokens
               << (ndim == 3 ? ", heads, dim)" : ", dim)"));
}

// The cache holds rows like those of `append`, in pages of at least one slot.
PagedView checked(const char* op, const char* name, const PagedView& cache, View append) {
  fictl::check_last_dim_contiguous(op, name, cache.tensor);
  const int64_t page_size = cache.page_size > 0 ? cache.page_size : 1;
  const int64_t heads = append.ndim() == 3 ? append.size(1) : 1;
  fictl::translate([&] { fictl::check_pages(op, name, cache, page_size, heads, append.size(-1)); });
  return cache;
}

PagedView heads_of(const char* op, View cache, const std::string& layout, int part, View append) {
  constexpr const char* kName = "paged_kv_cache";
  const PagedView paged =
      fictl::translate([&] { return fictl::paged_heads(op, kName, cache, layout == "HND", part); });
  return checked(op, kName, paged, append);
}

PagedView latent_of(const char* op, const char* name, View cache, const char* append_name,
                    View append) {
  fictl::check_same_device(op, name, cache, append_name, append);
  fictl::check_same_dtype(op, name, cache, append_name, append);
  fictl::check_last_dim_contiguous(op, append_name, append);
  return checked(op, name, fictl::translate([&] { return fictl::paged_latent(op, name, cache); }),
                 append);
}

void check_page_sizes(const char* op, const char* name, const PagedView& x, const char* other_name,
                      const PagedView& other) {
  if (x.page_size == other.page_size) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has pages of " << x.page_size << " slots, " << other_name << " of "
               << other.page_size);
}

// One table is for both: a page of one beyond the end of the other would be written there.
void check_page_counts(const char* op, const char* name, const PagedView& x, const char* other_name,
                       const PagedView& other) {
  if (x.tensor.size(0) == other.tensor.size(0)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has " << x.tensor.size(0) << " pages, " << other_name << " "
               << other.tensor.size(0));
}

// paged_kv_cache: keys and values in one tensor, or the keys if paged_kv_cache_1 is given.
void append_paged_kv_cache(View append_key, View append_value, View batch_indices, View positions,
                           View paged_kv_cache, Optional<View> paged_kv_cache_1, View kv_indices,
                           View kv_indptr, View kv_last_page_len, std::string kv_layout,
                           bool enable_pdl) {
  const View v_cache = paged_kv_cache_1.value_or(paged_kv_cache);
  fictl::check_device(__func__, "append_key", append_key);
  for (const auto& [name, x] : {std::pair("append_value", append_value),
                                {"paged_kv_cache", paged_kv_cache},
                                {"paged_kv_cache", v_cache}}) {
    fictl::check_same_device(__func__, name, x, "append_key", append_key);
    fictl::check_same_dtype(__func__, name, x, "append_key", append_key);
  }
  fictl::check_same_device(__func__, "batch_indices", batch_indices, "append_key", append_key);
  fictl::check_same_device(__func__, "positions", positions, "append_key", append_key);
  fictl::check_same_device(__func__, "kv_indices", kv_indices, "append_key", append_key);
  fictl::check_same_device(__func__, "kv_indptr", kv_indptr, "append_key", append_key);
  check_whole_bytes(__func__, "append_key", append_key);
  fictl::check_dim(__func__, "append_key", append_key, 3);
  check_rows(__func__, "append_value", append_value, 3, append_key.size(0));
  fictl::check_last_dim_contiguous(__func__, "append_key", append_key);
  fictl::check_last_dim_contiguous(__func__, "append_value", append_value);
  check_layout(__func__, kv_layout);
  const bool stacked = !paged_kv_cache_1.has_value();
  const PagedView keys =
      heads_of(__func__, paged_kv_cache, kv_layout, stacked ? 0 : -1, append_key);
  const PagedView values = heads_of(__func__, v_cache, kv_layout, stacked ? 1 : -1, append_value);
  check_page_sizes(__func__, "paged_kv_cache", values, "those of the keys", keys);
  check_page_counts(__func__, "paged_kv_cache", values, "that of the keys", keys);
  fictl::call(__func__, append_key, fictl::page::append_paged_kv_cache, append_key, append_value,
              batch_indices, positions, keys, values, kv_indices, kv_indptr, kv_last_page_len,
              enable_pdl);
}

void append_paged_mla_kv_cache(View append_ckv, View append_kpe, View batch_indices, View positions,
                               Optional<View> ckv_cache, Optional<View> kpe_cache, View kv_indices,
                               View kv_indptr, View kv_last_page_len, bool enable_pdl) {
  fictl::check_device(__func__, "append_ckv", append_ckv);
  for (const auto& [name, x] : {std::pair("append_kpe", append_kpe),
                                {"batch_indices", batch_indices},
                                {"positions", positions},
                                {"kv_indices", kv_indices},
                                {"kv_indptr", kv_indptr}}) {
    fictl::check_same_device(__func__, name, x, "append_ckv", append_ckv);
  }
  check_whole_bytes(__func__, "append_ckv", append_ckv);
  check_whole_bytes(__func__, "append_kpe", append_kpe);
  fictl::check_dim(__func__, "append_ckv", append_ckv, 2);
  check_rows(__func__, "append_kpe", append_kpe, 2, append_ckv.size(0));
  std::optional<PagedView> ckv;
  std::optional<PagedView> kpe;
  if (ckv_cache) ckv = latent_of(__func__, "ckv_cache", *ckv_cache, "append_ckv", append_ckv);
  if (kpe_cache) kpe = latent_of(__func__, "kpe_cache", *kpe_cache, "append_kpe", append_kpe);
  if (ckv && kpe) {
    check_page_sizes(__func__, "kpe_cache", *kpe, "'ckv_cache'", *ckv);
    check_page_counts(__func__, "kpe_cache", *kpe, "'ckv_cache'", *ckv);
  }
  const PagedView* no_cache = nullptr;
  fictl::call(__func__, append_ckv, fictl::page::append_paged_mla_kv_cache, append_ckv, append_kpe,
              batch_indices, positions, ckv ? &*ckv : no_cache, kpe ? &*kpe : no_cache, kv_indices,
              kv_indptr, kv_last_page_len, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(append_paged_kv_cache, append_paged_kv_cache);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(append_paged_mla_kv_cache, append_paged_mla_kv_cache);
