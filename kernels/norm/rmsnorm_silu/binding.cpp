#include <binding/ffi.h>
#include <binding/row_pitch.h>

namespace fictl::norm {
void fused_rmsnorm_silu(const Launch& launch, View out, View input, View weight, double eps,
                        bool enable_pdl);
void fused_rmsnorm_silu_fp4(const Launch& launch, View out, View block_scale, View input,
                            View weight, double eps, bool enable_pdl);
}  // namespace fictl::norm

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::Strides;
using fictl::View;

constexpr int kBlock = 16;  // elements in e2m1 that share a scale
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

// x has the shape of input, with one element for every `group` elements of a row.
void check_grouped_shape(const char* name, View x, View input, int group) {
  fictl::check_same_device(kOp, name, x, "input", input);
  bool same = x.ndim() == input.ndim() && x.size(-1) == input.size(-1) / group;
  for (int dim = 0; same && dim < x.ndim() - 1; ++dim) same = x.size(dim) == input.size(dim);
  if (same) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, name)
               << "has shape " << Shape{x} << ", 'input' has " << Shape{input}
               << ": it has one for every " << group << " elements of a row");
}

// The kernel reads and writes e2m1 in whole vectors: each row begins at a multiple of `bytes`.
void check_aligned_rows(const char* name, View x, int bytes) {
  fictl::check_aligned(kOp, name, x, bytes);
  const int64_t pitch = fictl::translate([&] { return fictl::row_pitch(kOp, name, x); });
  if (x.numel() <= x.size(-1) || pitch * x.dtype().bits * x.dtype().lanes / 8 % bytes == 0) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, name)
               << "has strides " << Strides{x} << ": rows must be aligned to " << bytes
               << " bytes; pass " << name << ".contiguous()");
}

void fused_rmsnorm_silu(View out, View input, View weight, double eps, bool enable_pdl) {
  check_inputs(input, weight);
  fictl::check_same_device(__func__, "out", out, "input", input);
  fictl::check_same_shape(__func__, "out", out, "input", input);
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
  check_grouped_shape("out", out, input, 2);
  fictl::check_dtype(kOp, "block_scale", block_scale, fictl::kFloat8E4M3);
  check_grouped_shape("block_scale", block_scale, input, kBlock);
  check_aligned_rows("input", input, 16);
  fictl::check_aligned(kOp, "weight", weight, 16);
  check_aligned_rows("out", out, 4);
  fictl::call(kOp, input, fictl::norm::fused_rmsnorm_silu_fp4, out, block_scale, input, weight, eps,
              enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(fused_rmsnorm_silu, fused_rmsnorm_silu);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fused_rmsnorm_silu_fp4, fused_rmsnorm_silu_fp4);
