#include <binding/ffi.h>
#include <binding/rows.h>

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

// True if dimension `inner` has stride 1, and `outer` a stride that leaves no overlap.
bool lies_along(View x, int outer, int inner) {
  return (x.size(inner) <= 1 || x.stride(inner) == 1) &&
         (x.size(outer) <= 1 || x.stride(outer) >= x.size(inner));
}

void check_scales_layout(const char* op, View scales) {
  if (scales.numel() == 0 || scales.contiguous()) return;
  if (scales.ndim() == 2 && (lies_along(scales, 0, 1) || lies_along(scales, 1, 0))) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "scales")
               << "has shape " << Shape{scales} << " and strides " << Strides{scales}
               << ": one dimension must be contiguous (stride 1), and rows along it must not "
                  "overlap; pass a contiguous one");
}

// One number that the kernel reads or writes, of shape () or (1,).
void check_scale(const char* op, const char* name, View scale, View x) {
  fictl::check_same_device(op, name, scale, "x", x);
  fictl::check_dtype(op, name, scale, fictl::kFloat32);
  if (scale.numel() == 1) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{scale} << "; it is one number");
}

void check_workspace(const char* op, View workspace, View x) {
  fictl::check_same_device(op, "workspace", workspace, "x", x);
  fictl::check_contiguous(op, "workspace", workspace);
  fictl::check_dtype(op, "workspace", workspace, fictl::kFloat32);
  const int64_t wanted = fictl::quantization::per_tensor_quant_fp8_workspace();
  if (workspace.numel() >= wanted) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "workspace")
               << "has shape " << Shape{workspace} << "; it needs " << wanted << " numbers");
}

void per_token_group_quant_8bit(View out, View scales, View x, int64_t group_size, double eps,
                                bool power_of_two, bool enable_pdl) {
  fictl::check_device(__func__, "x", x);
  fictl::check_same_device(__func__, "out", out, "x", x);
  fictl::check_same_device(__func__, "scales", scales, "x", x);
  check_group_size(__func__, group_size, x);
  fictl::check_same_shape(__func__, "out", out, "x", x);
  fictl::check_dtype(__func__, "scales", scales, fictl::kFloat32);
  check_scales_shape(__func__, scales, x, group_size);
  check_scales_layout(__func__, scales);
  fictl::call(__func__, x, fictl::quantization::per_token_group_quant_8bit, out, scales, x,
              group_size, eps, power_of_two, enable_pdl);
}

int64_t per_tensor_quant_fp8_workspace() {
  return fictl::quantization::per_tensor_quant_fp8_workspace();
}

// The kernel walks both as one row: dense, with the dimensions in one order.
void check_one_row(const char* op, View out, View x) {
  const fictl::Rows<2> rows =
      fictl::translate([&] { return fictl::collapse(op, "out, x", {out, x}); });
  if (rows.rows <= 1) return;
  fictl::raise(fictl::Error(ErrorKind::ValueError)
               << op << ": arguments out, x of shape " << Shape{x} << " have strides "
               << Strides{out} << ", " << Strides{x}
               << "; pass contiguous tensors, as .contiguous() makes them");
}

// With `scale` given, the workspace is not used.
void per_tensor_quant_fp8(View out, View out_scale, View x, tvm::ffi::Optional<View> scale,
                          View workspace, bool enable_pdl) {
  fictl::check_device(__func__, "x", x);
  fictl::check_same_device(__func__, "out", out, "x", x);
  fictl::check_same_shape(__func__, "out", out, "x", x);
  check_one_row(__func__, out, x);
  if (scale.has_value()) check_scale(__func__, "scale", *scale, x);
  check_scale(__func__, "out_scale", out_scale, x);
  if (!scale.has_value()) check_workspace(__func__, workspace, x);
  fictl::call(__func__, x, fictl::quantization::per_tensor_quant_fp8, out, out_scale, x,
              pointer(scale), workspace, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(per_token_group_quant_8bit, per_token_group_quant_8bit);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(per_tensor_quant_fp8, per_tensor_quant_fp8);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(per_tensor_quant_fp8_workspace, per_tensor_quant_fp8_workspace);
