#include <binding/ffi.h>

namespace fictl::elementwise {
void swiglu(const Launch& launch, View out, View x, View gate);
}

namespace {

using fictl::View;

void swiglu(View out, View x, View gate) {
  CHECK_CUDA(x);
  CHECK_SAME_DEVICE(out, x);
  CHECK_SAME_DTYPE(out, x);
  CHECK_SAME_SHAPE(out, x);
  CHECK_SAME_DEVICE(gate, x);
  CHECK_SAME_DTYPE(gate, x);
  CHECK_SAME_SHAPE(gate, x);
  fictl::call(__func__, x, fictl::elementwise::swiglu, out, x, gate);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(swiglu, swiglu);
