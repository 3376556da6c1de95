#include <binding/ffi.h>

namespace fictl::elementwise {
void concat_mla_k(const Launch& launch, View k, View k_nope, View k_rope, bool enable_pdl);
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

void check_part(const char* op, const char* name, View x, View k, int64_t heads) {
  fictl::check_same_device(op, name, x, "k", k);
  fictl::check_same_dtype(op, name, x, "k", k);
  fictl::check_dim(op, name, x, 3);
  fictl::check_last_dim_contiguous(op, name, x);
  if (x.size(0) == k.size(0) && x.size(1) == heads) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{x} << ", 'k' has " << Shape{k} << ": pass " << name
               << " as (" << k.size(0) << ", " << heads << ", dim)");
}

void check_k(const char* op, View k) {
  fictl::check_device(op, "k", k);
  fictl::check_dim(op, "k", k, 3);
  fictl::check_last_dim_contiguous(op, "k", k);
  fictl::check_no_overlap(op, "k", k);
  if (k.dtype().bits < 8 || k.dtype().lanes != 1) {
    fictl::raise(fictl::argument_error(ErrorKind::TypeError, op, "k")
                 << "has dtype " << k.dtype() << ", whose elements are not whole bytes");
  }
  if (k.size(1) * k.size(2) * (k.dtype().bits / 8) <= INT32_MAX) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "k")
               << "has shape " << Shape{k} << "; a token has less than 2^31 bytes");
}

void concat_mla_k(View k, View k_nope, View k_rope, bool enable_pdl) {
  check_k(__func__, k);
  check_part(__func__, "k_nope", k_nope, k, k.size(1));
  check_part(__func__, "k_rope", k_rope, k, 1);
  if (k_nope.size(2) + k_rope.size(2) != k.size(2)) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, __func__, "k")
                 << "has heads of " << k.size(2) << " elements, 'k_nope' of " << k_nope.size(2)
                 << " and 'k_rope' of " << k_rope.size(2) << ", which follow one another");
  }
  fictl::call(__func__, k, fictl::elementwise::concat_mla_k, k, k_nope, k_rope, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(concat_mla_k, concat_mla_k);
