#include <binding/ffi.h>

namespace fictl::sampling {
void from_probs(const Launch& launch, View out, const View* valid, View probs, const View* indices,
                const View* seeds, const View* offsets, int64_t seed, int64_t offset,
                bool enable_pdl);
void from_probs_min_p(const Launch& launch, View out, const View* valid, View probs,
                      const View* indices, const View* p, double p_value, const View* seeds,
                      const View* offsets, int64_t seed, int64_t offset, bool enable_pdl);
void from_probs_top(const Launch& launch, View out, const View* valid, View probs,
                    const View* indices, const View* k, int64_t k_value, const View* p,
                    double p_value, bool k_first, const View* seeds, const View* offsets,
                    int64_t seed, int64_t offset, bool enable_pdl);
}  // namespace fictl::sampling

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;
using Maybe = tvm::ffi::Optional<View>;

void check_beside(const char* op, const char* name, const Maybe& x, View probs) {
  if (x.has_value()) fictl::check_same_device(op, name, *x, "probs", probs);
}

// An output of shape (batch,).
void check_written(const char* op, const char* name, View x, View probs, int64_t batch) {
  fictl::check_same_device(op, name, x, "probs", probs);
  if (x.ndim() != 1 || x.size(0) != batch) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
                 << "has shape " << Shape{x} << "; one number for each draw is (" << batch << ",)");
  }
  fictl::check_contiguous(op, name, x);
}

void check(const char* op, View out, const Maybe& valid, View probs, const Maybe& indices) {
  fictl::check_device(op, "probs", probs);
  fictl::check_dim(op, "probs", probs, 2);
  fictl::check_last_dim_contiguous(op, "probs", probs);
  check_beside(op, "indices", indices, probs);
  const int64_t batch = indices.has_value() ? (*indices).numel() : probs.size(0);
  check_written(op, "out", out, probs, batch);
  fictl::check_dtype(op, "out", out, {fictl::kInt32, fictl::kInt64});
  if (!valid.has_value()) return;
  check_written(op, "valid", *valid, probs, batch);
  fictl::check_dtype(op, "valid", *valid, fictl::kBool);
}

void sampling_from_probs(View out, tvm::ffi::Optional<View> valid, View probs,
                         tvm::ffi::Optional<View> indices, tvm::ffi::Optional<View> seeds,
                         tvm::ffi::Optional<View> offsets, int64_t seed, int64_t offset,
                         bool enable_pdl) {
  check(__func__, out, valid, probs, indices);
  fictl::call(__func__, probs, fictl::sampling::from_probs, out, pointer(valid), probs,
              pointer(indices), pointer(seeds), pointer(offsets), seed, offset, enable_pdl);
}

void min_p_sampling_from_probs(View out, tvm::ffi::Optional<View> valid, View probs,
                               tvm::ffi::Optional<View> indices, tvm::ffi::Optional<View> p,
                               double p_value, tvm::ffi::Optional<View> seeds,
                               tvm::ffi::Optional<View> offsets, int64_t seed, int64_t offset,
                               bool enable_pdl) {
  check(__func__, out, valid, probs, indices);
  check_beside(__func__, "min_p", p, probs);
  fictl::call(__func__, probs, fictl::sampling::from_probs_min_p, out, pointer(valid), probs,
              pointer(indices), pointer(p), p_value, pointer(seeds), pointer(offsets), seed, offset,
              enable_pdl);
}

void top(const char* op, View out, const Maybe& valid, View probs, const Maybe& indices,
         const Maybe& k, int64_t k_value, const Maybe& p, double p_value, bool k_first,
         const Maybe& seeds, const Maybe& offsets, int64_t seed, int64_t offset, bool enable_pdl) {
  check(op, out, valid, probs, indices);
  check_beside(op, "top_k", k, probs);
  check_beside(op, "top_p", p, probs);
  fictl::call(op, probs, fictl::sampling::from_probs_top, out, pointer(valid), probs,
              pointer(indices), pointer(k), k_value, pointer(p), p_value, k_first, pointer(seeds),
              pointer(offsets), seed, offset, enable_pdl);
}

void top_p_sampling_from_probs(View out, tvm::ffi::Optional<View> valid, View probs,
                               tvm::ffi::Optional<View> indices, tvm::ffi::Optional<View> p,
                               double p_value, tvm::ffi::Optional<View> seeds,
                               tvm::ffi::Optional<View> offsets, int64_t seed, int64_t offset,
                               bool enable_pdl) {
  top(__func__, out, valid, probs, indices, {}, 0, p, p_value, false, seeds, offsets, seed, offset,
      enable_pdl);
}

void top_k_sampling_from_probs(View out, tvm::ffi::Optional<View> valid, View probs,
                               tvm::ffi::Optional<View> indices, tvm::ffi::Optional<View> k,
                               int64_t k_value, tvm::ffi::Optional<View> seeds,
                               tvm::ffi::Optional<View> offsets, int64_t seed, int64_t offset,
                               bool enable_pdl) {
  top(__func__, out, valid, probs, indices, k, k_value, {}, 1.0, false, seeds, offsets, seed,
      offset, enable_pdl);
}

void top_k_top_p_sampling_from_probs(View out, tvm::ffi::Optional<View> valid, View probs,
                                     tvm::ffi::Optional<View> indices, tvm::ffi::Optional<View> k,
                                     int64_t k_value, tvm::ffi::Optional<View> p, double p_value,
                                     bool k_first, tvm::ffi::Optional<View> seeds,
                                     tvm::ffi::Optional<View> offsets, int64_t seed, int64_t offset,
                                     bool enable_pdl) {
  top(__func__, out, valid, probs, indices, k, k_value, p, p_value, k_first, seeds, offsets, seed,
      offset, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(sampling_from_probs, sampling_from_probs);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(min_p_sampling_from_probs, min_p_sampling_from_probs);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(top_p_sampling_from_probs, top_p_sampling_from_probs);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(top_k_sampling_from_probs, top_k_sampling_from_probs);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(top_k_top_p_sampling_from_probs, top_k_top_p_sampling_from_probs);
