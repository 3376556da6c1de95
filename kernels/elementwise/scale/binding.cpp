#include <binding/ffi.h>

namespace fictl::elementwise {
void scale(const Launch& launch, View out, View input, double factor);
}

namespace {

using fictl::View;

void scale(View out, View input, double factor) {
  fictl::check_device(__func__, "input", input);
  fictl::check_same_device(__func__, "out", out, "input", input);
  fictl::check_same_dtype(__func__, "out", out, "input", input);
  fictl::check_same_shape(__func__, "out", out, "input", input);
  fictl::call(__func__, input, fictl::elementwise::scale, out, input, factor);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale, scale);
