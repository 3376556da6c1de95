#include <binding/ffi.h>

namespace fictl::norm {
void fused_rmsnorm_silu(const Launch& launch, View out, View input, View weight, double eps,
                        bool enable_pdl);
void fused_rmsnorm_silu_fp4(const Launch& launch, View out, View block_scale, View input,
                            View weight, double eps, bool enable_pdl);
}  // namespace fictl::norm

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr int kBlock = 16;  // of e2m1, for a scale
constexpr const char* kOp = "fused_rmsnorm_silu";

void check_inputs(View input, View weight) {
  fictl::check_device(kOp, "input", input);
  if (input.ndim() == 0) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "input")
                 << "has shape (); pass it as (..., hidden)");
  }
  fictl::check_same_device(kOp, "weight", weight, "input", input);
  fictl::check_same_dtype(kOp, "weight", weight, "input", input);
  fictl::check_dim(kOp, "weight", weight, 1);
  fictl::check_contiguous(kOp, "weight", weight);
  if (weight.size(0) == input.size(-1)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "weight")
               << "has " << weight.size(0) << " elements, a row of 'input' has " << input.size(-1));
}

// That x is as input, but for its rows, which hold a number for every `each` of its elements.
void check_fewer(const char* name, View x, View input, int each) {
  fictl::check_same_device(kOp, name, x, "input", input);
  bool same = x.ndim() == input.ndim() && x.size(-1) == input.size(-1) / each;
  for (int dim = 0; same && dim < x.ndim() - 1; ++dim) same = x.size(dim) == input.size(dim);
  if (same) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, name)
               << "has shape " << Shape{x} << ", 'input' has " << Shape{input}
               << ": of its rows, one for every " << each << " elements");
}

void check_block_scale(View block_scale) {
  if (fictl::same_dtype(block_scale.dtype(), {kDLFloat8_e4m3fn, 8, 1})) return;
  fictl::raise(fictl::argument_error(ErrorKind::TypeError, kOp, "block_scale")
               << "has dtype " << block_scale.dtype() << "; accepted: float8_e4m3fn");
}

void fused_rmsnorm_silu(View out, View input, View weight, double eps, bool enable_pdl) {
  check_inputs(input, weight);
  CHECK_SAME_DEVICE(out, input);
  CHECK_SAME_SHAPE(out, input);
  fictl::call(kOp, input, fictl::norm::fused_rmsnorm_silu, out, input, weight, eps, enable_pdl);
}

void fused_rmsnorm_silu_fp4(View out, View block_scale, View input, View weight, double eps,
                            bool enable_pdl) {
  check_inputs(input, weight);
  if (input.size(-1) % kBlock != 0) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "input")
                 << "has shape " << Shape{input} << "; rows of e2m1 have a multiple of " << kBlock
                 << " elements");
  }
  check_fewer("out", out, input, 2);
  check_block_scale(block_scale);
  check_fewer("block_scale", block_scale, input, kBlock);
  fictl::call(kOp, input, fictl::norm::fused_rmsnorm_silu_fp4, out, block_scale, input, weight, eps,
              enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(fused_rmsnorm_silu, fused_rmsnorm_silu);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fused_rmsnorm_silu_fp4, fused_rmsnorm_silu_fp4);
