#include <binding/ffi.h>

namespace fictl::page {
void append_paged_kv_cache(const Launch& launch, View append_key, View append_value,
                           View batch_indices, View positions, View k_cache, View v_cache,
                           bool stacked, bool hnd, View kv_indices, View kv_indptr,
                           View kv_last_page_len, bool enable_pdl);
void append_paged_mla_kv_cache(const Launch& launch, View append_ckv, View append_kpe,
                               View batch_indices, View positions, const View* ckv_cache,
                               const View* kpe_cache, View kv_indices, View kv_indptr,
                               View kv_last_page_len, bool enable_pdl);
}  // namespace fictl::page

namespace {

using fictl::ErrorKind;
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

// paged_kv_cache: both, or the keys where paged_kv_cache_1 has the values.
void append_paged_kv_cache(View append_key, View append_value, View batch_indices, View positions,
                           View paged_kv_cache, Optional<View> paged_kv_cache_1, View kv_indices,
                           View kv_indptr, View kv_last_page_len, std::string kv_layout,
                           bool enable_pdl) {
  const View v_cache = paged_kv_cache_1.value_or(paged_kv_cache);
  CHECK_CUDA(append_key);
  for (const auto& [name, x] : {std::pair("append_value", append_value),
                                {"paged_kv_cache", paged_kv_cache},
                                {"paged_kv_cache", v_cache}}) {
    fictl::check_same_device(__func__, name, x, "append_key", append_key);
    fictl::check_same_dtype(__func__, name, x, "append_key", append_key);
  }
  CHECK_SAME_DEVICE(batch_indices, append_key);
  CHECK_SAME_DEVICE(positions, append_key);
  CHECK_SAME_DEVICE(kv_indices, append_key);
  CHECK_SAME_DEVICE(kv_indptr, append_key);
  check_whole_bytes(__func__, "append_key", append_key);
  CHECK_DIM(append_key, 3);
  check_layout(__func__, kv_layout);
  fictl::call(__func__, append_key, fictl::page::append_paged_kv_cache, append_key, append_value,
              batch_indices, positions, paged_kv_cache, v_cache, !paged_kv_cache_1.has_value(),
              kv_layout == "HND", kv_indices, kv_indptr, kv_last_page_len, enable_pdl);
}

void append_paged_mla_kv_cache(View append_ckv, View append_kpe, View batch_indices, View positions,
                               Optional<View> ckv_cache, Optional<View> kpe_cache, View kv_indices,
                               View kv_indptr, View kv_last_page_len, bool enable_pdl) {
  CHECK_CUDA(append_ckv);
  CHECK_SAME_DEVICE(append_kpe, append_ckv);
  CHECK_SAME_DEVICE(batch_indices, append_ckv);
  CHECK_SAME_DEVICE(positions, append_ckv);
  CHECK_SAME_DEVICE(kv_indices, append_ckv);
  CHECK_SAME_DEVICE(kv_indptr, append_ckv);
  if (ckv_cache) {
    fictl::check_same_device(__func__, "ckv_cache", *ckv_cache, "append_ckv", append_ckv);
    fictl::check_same_dtype(__func__, "ckv_cache", *ckv_cache, "append_ckv", append_ckv);
  }
  if (kpe_cache) {
    fictl::check_same_device(__func__, "kpe_cache", *kpe_cache, "append_kpe", append_kpe);
    fictl::check_same_dtype(__func__, "kpe_cache", *kpe_cache, "append_kpe", append_kpe);
  }
  check_whole_bytes(__func__, "append_ckv", append_ckv);
  check_whole_bytes(__func__, "append_kpe", append_kpe);
  CHECK_DIM(append_ckv, 2);
  fictl::call(__func__, append_ckv, fictl::page::append_paged_mla_kv_cache, append_ckv, append_kpe,
              batch_indices, positions, pointer(ckv_cache), pointer(kpe_cache), kv_indices,
              kv_indptr, kv_last_page_len, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(append_paged_kv_cache, append_paged_kv_cache);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(append_paged_mla_kv_cache, append_paged_mla_kv_cache);
