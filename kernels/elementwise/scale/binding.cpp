#include <binding/ffi.h>

namespace fictl::elementwise {
void scale(const Launch& launch, View out, View input, double factor);
}

namespace {

using fictl::View;

void scale(View out, View input, double factor) {
  CHECK_CUDA(input);
  CHECK_SAME_DEVICE(out, input);
  CHECK_SAME_DTYPE(out, input);
  CHECK_SAME_SHAPE(out, input);
  fictl::call(__func__, input, fictl::elementwise::scale, out, input, factor);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale, scale);
