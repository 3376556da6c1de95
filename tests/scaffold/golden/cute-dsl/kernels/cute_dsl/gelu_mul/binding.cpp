#include <binding/ffi.h>

namespace my_kernels::cute_dsl {
using fictl::Launch;
using fictl::View;
void gelu_mul(const Launch& launch, View out, View x, View gate, double factor);
}  // namespace my_kernels::cute_dsl

namespace {

using fictl::View;

void gelu_mul(View out, View x, View gate, double factor) {
  fictl::check_device(__func__, "x", x);
  fictl::check_same_device(__func__, "out", out, "x", x);
  fictl::check_same_dtype(__func__, "out", out, "x", x);
  fictl::check_same_shape(__func__, "out", out, "x", x);
  fictl::check_same_device(__func__, "gate", gate, "x", x);
  fictl::check_same_dtype(__func__, "gate", gate, "x", x);
  fictl::check_same_shape(__func__, "gate", gate, "x", x);
  fictl::call(__func__, x, my_kernels::cute_dsl::gelu_mul, out, x, gate, factor);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(gelu_mul, gelu_mul);
