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
  fictl::check_device(__func__, "x", x);
  fictl::check_same_device(__func__, "out", out, "x", x);
  fictl::check_same_dtype(__func__, "out", out, "x", x);
  fictl::check_same_device(__func__, "weight", weight, "x", x);
  fictl::check_same_dtype(__func__, "weight", weight, "x", x);
  fictl::check_dim(__func__, "x", x, 3);
  fictl::check_same_shape(__func__, "out", out, "x", x);
  fictl::check_dim(__func__, "weight", weight, 1);
  check_length(__func__, "weight", weight, "x", x);
  fictl::check_contiguous(__func__, "weight", weight);
  fictl::call(__func__, x, my_kernels::heads::head_scale, out, x, weight, factor);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(head_scale, head_scale);
