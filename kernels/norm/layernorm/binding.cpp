#include <binding/ffi.h>

namespace fictl::norm {
void layernorm(const Launch& launch, View out, View input, View gemma, View beta, double eps,
               bool enable_pdl);
void layernorm_quant(const Launch& launch, View out, View input, View gemma, View beta, View scale,
                     double eps, bool enable_pdl);
}  // namespace fictl::norm

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

void check_rows(const char* op, View input) {
  if (input.ndim() > 0) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "input")
               << "has shape (); pass it as (..., hidden)");
}

// gemma or beta: float32 of shape (hidden,).
void check_weights(const char* op, const char* name, View x, View input) {
  fictl::check_same_device(op, name, x, "input", input);
  fictl::check_dtype(op, name, x, fictl::kFloat32);
  fictl::check_dim(op, name, x, 1);
  fictl::check_contiguous(op, name, x);
  if (x.size(0) == input.size(-1)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has " << x.size(0) << " elements, a row of 'input' has " << input.size(-1));
}

void check_one_number(const char* op, View scale) {
  if (scale.numel() == 1) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "scale")
               << "has shape " << Shape{scale} << "; pass a number, or a tensor of one");
}

void check_arguments(const char* op, View out, View input, View gemma, View beta) {
  fictl::check_device(op, "input", input);
  check_rows(op, input);
  check_weights(op, "gemma", gemma, input);
  check_weights(op, "beta", beta, input);
  fictl::check_same_device(op, "out", out, "input", input);
  fictl::check_same_shape(op, "out", out, "input", input);
}

void layernorm(View out, View input, View gemma, View beta, double eps, bool enable_pdl) {
  check_arguments(__func__, out, input, gemma, beta);
  fictl::check_same_dtype(__func__, "out", out, "input", input);
  fictl::call(__func__, input, fictl::norm::layernorm, out, input, gemma, beta, eps, enable_pdl);
}

void layernorm_quant(View out, View input, View gemma, View beta, View scale, double eps,
                     bool enable_pdl) {
  check_arguments(__func__, out, input, gemma, beta);
  fictl::check_same_device(__func__, "scale", scale, "input", input);
  fictl::check_dtype(__func__, "scale", scale, fictl::kFloat32);
  check_one_number(__func__, scale);
  fictl::call(__func__, input, fictl::norm::layernorm_quant, out, input, gemma, beta, scale, eps,
              enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(layernorm, layernorm);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(layernorm_quant, layernorm_quant);
