#include <binding/ffi.h>

namespace my_kernels::hopper {
void swiglu(const fictl::Launch& launch, fictl::View out, fictl::View x, fictl::View gate);
}

namespace {

using fictl::View;

void swiglu(View out, View x, View gate) {
  fictl::check_device(__func__, "x", x);
  fictl::check_same_device(__func__, "out", out, "x", x);
  fictl::check_same_dtype(__func__, "out", out, "x", x);
  fictl::check_same_device(__func__, "gate", gate, "x", x);
  fictl::check_same_dtype(__func__, "gate", gate, "x", x);
  fictl::check_dim(__func__, "x", x, 2);
  fictl::check_same_shape(__func__, "out", out, "x", x);
  fictl::check_same_shape(__func__, "gate", gate, "x", x);
  fictl::call(__func__, x, my_kernels::hopper::swiglu, out, x, gate);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(swiglu, swiglu);
