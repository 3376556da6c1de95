#include <binding/ffi.h>

namespace fictl::norm {
void rmsnorm(const Launch& launch, View out, View input, View weight, double eps,
             double weight_bias, bool enable_pdl);
void fused_add_rmsnorm(const Launch& launch, View input, View residual, View weight, double eps,
                       double weight_bias, bool enable_pdl);
void rmsnorm_quant(const Launch& launch, View out, View input, View weight, View scale, double eps,
                   bool enable_pdl);
void fused_add_rmsnorm_quant(const Launch& launch, View out, View input, View residual, View weight,
                             View scale, double eps, bool enable_pdl);
}  // namespace fictl::norm

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr double kGemmaBias = 1.0;

void check_rows(const char* op, View input) {
  if (input.ndim() != 2 && input.ndim() != 3) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "input")
                 << "has shape " << Shape{input}
                 << "; pass it as (rows, hidden) or (tokens, heads, hidden)");
  }
  const int64_t rows = input.size(-2) * (input.ndim() == 3 ? input.size(0) : 1);
  if (rows <= INT32_MAX) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "input")
               << "has " << rows << " rows; pass up to " << INT32_MAX << " at a time");
}

void check_weight(const char* op, View weight, View input) {
  fictl::check_dim(op, "weight", weight, 1);
  fictl::check_contiguous(op, "weight", weight);
  if (weight.size(0) == input.size(-1)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "weight")
               << "has " << weight.size(0) << " elements, a row of 'input' has " << input.size(-1));
}

void check_scale(const char* op, View scale) {
  fictl::check_dtype(op, "scale", scale, fictl::kFloat32);
  if (scale.numel() == 1) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "scale")
               << "has shape " << Shape{scale} << "; pass one number");
}

void check_input(const char* op, View input, View weight) {
  fictl::check_device(op, "input", input);
  fictl::check_same_device(op, "weight", weight, "input", input);
  fictl::check_same_dtype(op, "weight", weight, "input", input);
  check_rows(op, input);
  check_weight(op, weight, input);
  fictl::check_last_dim_contiguous(op, "input", input);
}

// A tensor that is written: the shape of input, and rows that do not overlap.
void check_output(const char* op, const char* name, View x, View input) {
  fictl::check_same_device(op, name, x, "input", input);
  fictl::check_same_shape(op, name, x, "input", input);
  fictl::check_last_dim_contiguous(op, name, x);
  fictl::check_no_overlap(op, name, x);
}

void check_residual(const char* op, View residual, View input) {
  fictl::check_same_dtype(op, "residual", residual, "input", input);
  check_output(op, "residual", residual, input);
}

void check_quantized(const char* op, View out, View input, View scale) {
  check_output(op, "out", out, input);
  fictl::check_same_device(op, "scale", scale, "input", input);
  check_scale(op, scale);
}

void normalize(const char* op, View out, View input, View weight, double eps, double weight_bias,
               bool enable_pdl) {
  check_input(op, input, weight);
  fictl::check_same_dtype(op, "out", out, "input", input);
  check_output(op, "out", out, input);
  fictl::call(op, input, fictl::norm::rmsnorm, out, input, weight, eps, weight_bias, enable_pdl);
}

void add_and_normalize(const char* op, View input, View residual, View weight, double eps,
                       double weight_bias, bool enable_pdl) {
  check_input(op, input, weight);
  fictl::check_no_overlap(op, "input", input);
  check_residual(op, residual, input);
  fictl::call(op, input, fictl::norm::fused_add_rmsnorm, input, residual, weight, eps, weight_bias,
              enable_pdl);
}

void rmsnorm(View out, View input, View weight, double eps, bool enable_pdl) {
  normalize(__func__, out, input, weight, eps, 0.0, enable_pdl);
}

void gemma_rmsnorm(View out, View input, View weight, double eps, bool enable_pdl) {
  normalize(__func__, out, input, weight, eps, kGemmaBias, enable_pdl);
}

void fused_add_rmsnorm(View input, View residual, View weight, double eps, bool enable_pdl) {
  add_and_normalize(__func__, input, residual, weight, eps, 0.0, enable_pdl);
}

void gemma_fused_add_rmsnorm(View input, View residual, View weight, double eps, bool enable_pdl) {
  add_and_normalize(__func__, input, residual, weight, eps, kGemmaBias, enable_pdl);
}

void rmsnorm_quant(View out, View input, View weight, View scale, double eps, bool enable_pdl) {
  check_input(__func__, input, weight);
  check_quantized(__func__, out, input, scale);
  fictl::call(__func__, input, fictl::norm::rmsnorm_quant, out, input, weight, scale, eps,
              enable_pdl);
}

void fused_add_rmsnorm_quant(View out, View input, View residual, View weight, View scale,
                             double eps, bool enable_pdl) {
  check_input(__func__, input, weight);
  check_residual(__func__, residual, input);
  check_quantized(__func__, out, input, scale);
  fictl::call(__func__, input, fictl::norm::fused_add_rmsnorm_quant, out, input, residual, weight,
              scale, eps, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(rmsnorm, rmsnorm);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(gemma_rmsnorm, gemma_rmsnorm);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fused_add_rmsnorm, fused_add_rmsnorm);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(gemma_fused_add_rmsnorm, gemma_fused_add_rmsnorm);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(rmsnorm_quant, rmsnorm_quant);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fused_add_rmsnorm_quant, fused_add_rmsnorm_quant);
