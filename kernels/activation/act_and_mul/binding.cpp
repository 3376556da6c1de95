#include <binding/ffi.h>

namespace fictl::activation {
void silu_and_mul(const Launch& launch, View out, View input, bool enable_pdl);
void gelu_and_mul(const Launch& launch, View out, View input, bool enable_pdl);
void gelu_tanh_and_mul(const Launch& launch, View out, View input, bool enable_pdl);
}  // namespace fictl::activation

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

void check_even(const char* op, View input) {
  if (input.ndim() > 0 && input.size(-1) % 2 == 0) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "input")
               << "has shape " << Shape{input}
               << "; its last dimension is gate and up side by side and must be even");
}

void check_half(const char* op, View out, View input) {
  bool same = out.ndim() == input.ndim() && 2 * out.size(-1) == input.size(-1);
  for (int dim = 0; same && dim < input.ndim() - 1; ++dim) same = out.size(dim) == input.size(dim);
  if (same) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "out")
               << "has shape " << Shape{out} << ", 'input' has " << Shape{input}
               << ": out is as input, with half its last dimension");
}

void check(const char* op, View out, View input) {
  fictl::check_device(op, "input", input);
  fictl::check_same_device(op, "out", out, "input", input);
  fictl::check_same_dtype(op, "out", out, "input", input);
  check_even(op, input);
  check_half(op, out, input);
}

void silu_and_mul(View out, View input, bool enable_pdl) {
  check(__func__, out, input);
  fictl::call(__func__, input, fictl::activation::silu_and_mul, out, input, enable_pdl);
}

void gelu_and_mul(View out, View input, bool enable_pdl) {
  check(__func__, out, input);
  fictl::call(__func__, input, fictl::activation::gelu_and_mul, out, input, enable_pdl);
}

void gelu_tanh_and_mul(View out, View input, bool enable_pdl) {
  check(__func__, out, input);
  fictl::call(__func__, input, fictl::activation::gelu_tanh_and_mul, out, input, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(silu_and_mul, silu_and_mul);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(gelu_and_mul, gelu_and_mul);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(gelu_tanh_and_mul, gelu_tanh_and_mul);
