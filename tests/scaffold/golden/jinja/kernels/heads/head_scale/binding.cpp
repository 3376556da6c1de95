#include <binding/ffi.h>

namespace my_kernels::heads {
void head_scale(const fictl::Launch& launch, fictl::View out, fictl::View x, fictl::View weight,
                double factor);
}

namespace {

using fictl::View;

void check_length(const char* op, const char* name, View x, const char* of, View rows) {
  if (x.size(0) == rows.size(-1)) return;
  fictl::raise(fictl::argument_error(fictl::ErrorKind::ValueError, op, name)
               << "has " << x.size(0) << " elements, a row of '" << of << "' has "
               << rows.size(-1));
}

void head_scale(View out, View x, View weight, double factor) {
  CHECK_CUDA(x);
  CHECK_SAME_DEVICE(out, x);
  CHECK_SAME_DTYPE(out, x);
  CHECK_SAME_DEVICE(weight, x);
  CHECK_SAME_DTYPE(weight, x);
  CHECK_DIM(x, 3);
  CHECK_SAME_SHAPE(out, x);
  CHECK_DIM(weight, 1);
  check_length(__func__, "weight", weight, "x", x);
  CHECK_CONTIGUOUS(weight);
  fictl::call(__func__, x, my_kernels::heads::head_scale, out, x, weight, factor);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(head_scale, head_scale);
