#include <binding/ffi.h>

namespace my_kernels::quantize {
void quantize_rows(const fictl::Launch& launch, fictl::View q, fictl::View scales, fictl::View x,
                   int64_t group_size);
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr const char* kOp = "quantize_rows";
constexpr DLDataType kTo{kDLFloat8_e4m3fn, 8, 1};

void check_group_size(int64_t group_size, View x) {
  if (group_size > 0 && x.size(1) % group_size == 0) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "group_size")
               << "is " << group_size << ", 'x' has shape " << Shape{x}
               << ": whole groups make a row");
}

void check_scales(View scales, View x, int64_t groups) {
  fictl::check_same_device(kOp, "scales", scales, "x", x);
  fictl::check_dtype(kOp, "scales", scales, fictl::kFloat32);
  fictl::check_contiguous(kOp, "scales", scales);
  const int64_t rows = x.size(0);
  const bool fits = scales.ndim() == 2 && scales.size(0) == rows;
  if (fits && scales.size(1) == groups) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "scales")
               << "has shape " << Shape{scales} << "; it is (" << rows << ", " << groups
               << "), one for each group");
}

void quantize_rows(View q, View scales, View x, int64_t group_size) {
  fictl::check_device(kOp, "x", x);
  fictl::check_dim(kOp, "x", x, 2);
  check_group_size(group_size, x);
  fictl::check_same_device(kOp, "q", q, "x", x);
  fictl::check_same_shape(kOp, "q", q, "x", x);
  fictl::check_dtype(kOp, "q", q, kTo);
  check_scales(scales, x, x.size(1) / group_size);
  fictl::call(kOp, x, my_kernels::quantize::quantize_rows, q, scales, x, group_size);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(quantize_rows, quantize_rows);
