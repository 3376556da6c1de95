#include <binding/ffi.h>

namespace fictl::quantization {
void per_token_group_quant_8bit(const Launch& launch, View out, View scales, View x,
                                int64_t group_size, double eps, bool power_of_two, bool enable_pdl);
int64_t per_tensor_quant_fp8_workspace();
void per_tensor_quant_fp8(const Launch& launch, View out, View out_scale, View x, const View* scale,
                          View workspace, bool enable_pdl);
}  // namespace fictl::quantization

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::Strides;
using fictl::View;

constexpr DLDataType kFloat{kDLFloat, 32, 1};

void check_fp32(const char* op, const char* name, View x) {
  if (fictl::same_dtype(x.dtype(), kFloat)) return;
  fictl::raise(fictl::argument_error(ErrorKind::TypeError, op, name)
               << "has dtype " << x.dtype() << "; pass it as float32");
}

void check_group_size(const char* op, int64_t group_size, View x) {
  if (x.ndim() > 0 && group_size > 0 && x.size(-1) % group_size == 0) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "group_size")
               << "is " << group_size << ", 'x' has shape " << Shape{x}
               << ": whole groups make a row");
}

// One for each group of x.
void check_scales_shape(const char* op, View scales, View x, int64_t group_size) {
  bool fits = scales.ndim() == x.ndim() && scales.size(-1) == x.size(-1) / group_size;
  for (int dim = 0; fits && dim < x.ndim() - 1; ++dim) fits = scales.size(dim) == x.size(dim);
  if (fits) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "scales")
               << "has shape " << Shape{scales} << ", 'x' has " << Shape{x} << " in groups of "
               << group_size);
}

// Whether what dimension `outer` counts lies at a distance, and is neighbours within.
bool lies_along(View x, int outer, int inner) {
  return (x.size(inner) <= 1 || x.stride(inner) == 1) &&
         (x.size(outer) <= 1 || x.stride(outer) >= x.size(inner));
}

void check_scales_layout(const char* op, View scales) {
  if (scales.numel() == 0 || scales.contiguous()) return;
  if (scales.ndim() == 2 && (lies_along(scales, 0, 1) || lies_along(scales, 1, 0))) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "scales")
               << "has shape " << Shape{scales} << " and strides " << Strides{scales}
               << ": it is neither rows nor, of two dimensions, columns of neighbours; pass a "
                  "contiguous one");
}

// 0 and 1 dimensions are one number; the kernel reads or writes it.
void check_scale(const char* op, const char* name, View scale, View x) {
  fictl::check_same_device(op, name, scale, "x", x);
  check_fp32(op, name, scale);
  if (scale.numel() == 1) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{scale} << "; it is one number");
}

void check_workspace(const char* op, View workspace, View x) {
  fictl::check_same_device(op, "workspace", workspace, "x", x);
  fictl::check_contiguous(op, "workspace", workspace);
  check_fp32(op, "workspace", workspace);
  const int64_t wanted = fictl::quantization::per_tensor_quant_fp8_workspace();
  if (workspace.numel() >= wanted) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "workspace")
               << "has shape " << Shape{workspace} << "; it needs " << wanted << " numbers");
}

void per_token_group_quant_8bit(View out, View scales, View x, int64_t group_size, double eps,
                                bool power_of_two, bool enable_pdl) {
  CHECK_CUDA(x);
  CHECK_SAME_DEVICE(out, x);
  CHECK_SAME_DEVICE(scales, x);
  check_group_size(__func__, group_size, x);
  CHECK_SAME_SHAPE(out, x);
  check_fp32(__func__, "scales", scales);
  check_scales_shape(__func__, scales, x, group_size);
  check_scales_layout(__func__, scales);
  fictl::call(__func__, x, fictl::quantization::per_token_group_quant_8bit, out, scales, x,
              group_size, eps, power_of_two, enable_pdl);
}

int64_t per_tensor_quant_fp8_workspace() {
  return fictl::quantization::per_tensor_quant_fp8_workspace();
}

// Where `scale` is given, nothing is in the workspace.
void per_tensor_quant_fp8(View out, View out_scale, View x, tvm::ffi::Optional<View> scale,
                          View workspace, bool enable_pdl) {
  CHECK_CUDA(x);
  CHECK_SAME_DEVICE(out, x);
  CHECK_SAME_SHAPE(out, x);
  if (scale.has_value()) check_scale(__func__, "scale", *scale, x);
  check_scale(__func__, "out_scale", out_scale, x);
  if (!scale.has_value()) check_workspace(__func__, workspace, x);
  const View* given = scale.has_value() ? &*scale : nullptr;
  fictl::call(__func__, x, fictl::quantization::per_tensor_quant_fp8, out, out_scale, x, given,
              workspace, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(per_token_group_quant_8bit, per_token_group_quant_8bit);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(per_tensor_quant_fp8, per_tensor_quant_fp8);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(per_tensor_quant_fp8_workspace, per_tensor_quant_fp8_workspace);
