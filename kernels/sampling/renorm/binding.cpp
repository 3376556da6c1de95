#include <binding/ffi.h>

namespace fictl::sampling {
void top_p_renorm_probs(const Launch& launch, View out, View probs, const View* p, double p_value,
                        bool enable_pdl);
void top_k_renorm_probs(const Launch& launch, View out, View probs, const View* k, int64_t k_value,
                        bool enable_pdl);
void top_k_mask_logits(const Launch& launch, View out, View logits, const View* k, int64_t k_value,
                       bool enable_pdl);
}  // namespace fictl::sampling

namespace {

using fictl::View;
using Maybe = tvm::ffi::Optional<View>;

void check(const char* op, View out, const char* name, View x, const char* limit_name,
           const Maybe& limit) {
  fictl::check_device(op, name, x);
  fictl::check_dim(op, name, x, 2);
  fictl::check_same_device(op, "out", out, name, x);
  fictl::check_same_shape(op, "out", out, name, x);
  if (limit.has_value()) fictl::check_same_device(op, limit_name, *limit, name, x);
}

void top_p_renorm_probs(View out, View probs, tvm::ffi::Optional<View> p, double p_value,
                        bool enable_pdl) {
  check(__func__, out, "probs", probs, "top_p", p);
  fictl::check_dtype(__func__, "out", out, fictl::kFloat32);
  fictl::call(__func__, probs, fictl::sampling::top_p_renorm_probs, out, probs, pointer(p), p_value,
              enable_pdl);
}

void top_k_renorm_probs(View out, View probs, tvm::ffi::Optional<View> k, int64_t k_value,
                        bool enable_pdl) {
  check(__func__, out, "probs", probs, "top_k", k);
  fictl::check_same_dtype(__func__, "out", out, "probs", probs);
  fictl::call(__func__, probs, fictl::sampling::top_k_renorm_probs, out, probs, pointer(k), k_value,
              enable_pdl);
}

void top_k_mask_logits(View out, View logits, tvm::ffi::Optional<View> k, int64_t k_value,
                       bool enable_pdl) {
  check(__func__, out, "logits", logits, "top_k", k);
  fictl::check_same_dtype(__func__, "out", out, "logits", logits);
  fictl::call(__func__, logits, fictl::sampling::top_k_mask_logits, out, logits, pointer(k),
              k_value, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(top_p_renorm_probs, top_p_renorm_probs);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(top_k_renorm_probs, top_k_renorm_probs);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(top_k_mask_logits, top_k_mask_logits);
