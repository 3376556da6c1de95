#include <binding/ffi.h>

namespace fictl::norm {
void fused_add_rmsnorm_fp8_block_quant(const Launch& launch, View out, View block_scale,
                                       const View* normed_out, View input, View residual,
                                       View weight, double eps, bool enable_pdl);
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;
using tvm::ffi::Optional;

constexpr int64_t kBlock = 128;    // values with one scale
constexpr int64_t kScaleRows = 4;  // a column of scales is a multiple of so many: 16 bytes

void check_input(const char* op, View input) {
  fictl::check_device(op, "input", input);
  fictl::check_dim(op, "input", input, 2);
  if (input.size(1) % kBlock != 0) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "input")
                 << "has rows of " << input.size(1) << " elements, which are not blocks of "
                 << kBlock);
  }
  if (input.size(0) <= INT32_MAX) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "input")
               << "has " << input.size(0) << " rows; pass up to " << INT32_MAX << " at a time");
}

void check_weight(const char* op, View weight, View input) {
  fictl::check_same_device(op, "weight", weight, "input", input);
  fictl::check_same_dtype(op, "weight", weight, "input", input);
  fictl::check_dim(op, "weight", weight, 1);
  fictl::check_contiguous(op, "weight", weight);
  if (weight.size(0) == input.size(1)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "weight")
               << "has " << weight.size(0) << " elements, a row of 'input' has " << input.size(1));
}

void check_like_input(const char* op, const char* name, View x, View input) {
  fictl::check_same_device(op, name, x, "input", input);
  fictl::check_same_shape(op, name, x, "input", input);
}

void check_scales(const char* op, View block_scale, View input) {
  const int64_t blocks = input.size(1) / kBlock;
  const int64_t rows = (input.size(0) + kScaleRows - 1) / kScaleRows * kScaleRows;
  fictl::check_same_device(op, "block_scale", block_scale, "input", input);
  fictl::check_dtype(op, "block_scale", block_scale, fictl::kFloat32);
  if (block_scale.ndim() == 2 && block_scale.size(0) == blocks && block_scale.size(1) == rows) {
    return;
  }
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "block_scale")
               << "has shape " << Shape{block_scale} << "; for 'input' of " << Shape{input}
               << " it is (" << blocks << ", " << rows
               << "): blocks of 128, and rows rounded up to a multiple of 4");
}

void fused_add_rmsnorm_fp8_block_quant(View out, View block_scale, Optional<View> normed_out,
                                       View input, View residual, View weight, double eps,
                                       bool enable_pdl) {
  const View* normed = pointer(normed_out);
  check_input(__func__, input);
  check_like_input(__func__, "residual", residual, input);
  fictl::check_same_dtype(__func__, "residual", residual, "input", input);
  check_weight(__func__, weight, input);
  check_like_input(__func__, "out", out, input);
  fictl::check_dtype(__func__, "out", out, fictl::kFloat8E4M3);
  if (normed != nullptr) {
    check_like_input(__func__, "normed_out", *normed, input);
    fictl::check_same_dtype(__func__, "normed_out", *normed, "input", input);
  }
  check_scales(__func__, block_scale, input);
  fictl::call(__func__, input, fictl::norm::fused_add_rmsnorm_fp8_block_quant, out, block_scale,
              normed, input, residual, weight, eps, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(fused_add_rmsnorm_fp8_block_quant, fused_add_rmsnorm_fp8_block_quant);
