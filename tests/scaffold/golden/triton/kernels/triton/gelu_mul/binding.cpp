#include <binding/ffi.h>

namespace my_kernels::triton {
using fictl::Launch;
using fictl::View;
void gelu_mul(const Launch& launch, View out, View x, View gate, double factor);
}  // namespace my_kernels::triton

namespace {

using fictl::View;

void gelu_mul(View out, View x, View gate, double factor) {
  CHECK_CUDA(x);
  CHECK_SAME_DEVICE(out, x);
  CHECK_SAME_DTYPE(out, x);
  CHECK_SAME_SHAPE(out, x);
  CHECK_SAME_DEVICE(gate, x);
  CHECK_SAME_DTYPE(gate, x);
  CHECK_SAME_SHAPE(gate, x);
  fictl::call(__func__, x, my_kernels::triton::gelu_mul, out, x, gate, factor);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(gelu_mul, gelu_mul);
