#include <binding/ffi.h>
#include <binding/norm_call.h>

namespace fictl::comm {
void all_reduce_norm(const Launch& launch, View residual, View gamma, const NormCall& call,
                     const ChannelArguments& how, bool triggers_early, bool enable_pdl);
}

namespace {

using fictl::ErrorKind;
using fictl::pointer;
using fictl::Shape;
using fictl::View;
using OptionalView = tvm::ffi::Optional<View>;

constexpr int kPiece = 16;
constexpr int kFp4Block = 16;
constexpr int kMostGroupLanes = 32;
enum Adds { kInput, kReduced, kFinalized };
enum Quantizes { kNothing, kTensor, kToken, kGroups, kFp4 };

// A tensor on the device of `residual`, contiguous and aligned for vectors.
void check_plain(const char* op, const char* name, View x, View residual) {
  fictl::check_same_device(op, name, x, "residual", residual);
  fictl::check_contiguous(op, name, x);
  fictl::check_aligned(op, name, x, kPiece);
}

void check_count(const char* op, const char* name, View x, int64_t wanted) {
  if (x.numel() == wanted) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{x} << "; it has to have " << wanted << " elements");
}

void check_rows(const char* op, const char* name, const OptionalView& x, View residual) {
  if (!x.has_value()) return;
  check_plain(op, name, *x, residual);
  fictl::check_same_dtype(op, name, *x, "residual", residual);
  fictl::check_same_shape(op, name, *x, "residual", residual);
}

void check_residual(const char* op, View residual, View gamma) {
  fictl::check_device(op, "residual", residual);
  fictl::check_dim(op, "residual", residual, 2);
  check_plain(op, "residual", residual, residual);
  check_plain(op, "weight", gamma, residual);
  fictl::check_same_dtype(op, "weight", gamma, "residual", residual);
  check_count(op, "weight", gamma, residual.size(1));
  const int64_t vec = kPiece * 8 / residual.dtype().bits;
  if (residual.size(1) > 0 && residual.size(1) % vec == 0) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "residual")
               << "has rows of " << residual.size(1) << " elements; they have to be multiples of "
               << vec);
}

void require(const char* op, const char* name, const OptionalView& x, const char* why) {
  if (x.has_value()) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name) << "is missing: " << why);
}

void check_quant_out(const char* op, const OptionalView& out, View residual, int64_t bytes) {
  require(op, "quant_out", out, "the quantized rows go there");
  check_plain(op, "quant_out", *out, residual);
  if ((*out).numel() * (*out).dtype().bits * (*out).dtype().lanes / 8 == bytes) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "quant_out")
               << "has shape " << Shape{*out} << " of " << (*out).dtype() << "; it has to have "
               << bytes << " bytes");
}

void check_scale(const char* op, const OptionalView& scale, View residual) {
  require(op, "scale", scale, "a float32 tensor of one element");
  fictl::check_same_device(op, "scale", *scale, "residual", residual);
  fictl::check_dtype(op, "scale", *scale, fictl::kFloat32);
  check_count(op, "scale", *scale, 1);
}

void check_token_scales(const char* op, View scales, View residual) {
  fictl::check_dtype(op, "scale_out", scales, fictl::kFloat32);
  fictl::check_contiguous(op, "scale_out", scales);
  check_count(op, "scale_out", scales, residual.size(0));
}

// Words of four exponents, in columns at a stride of at least the rows.
void check_group_scales(const char* op, View scales, View residual, int64_t group) {
  const int64_t vec = kPiece * 8 / residual.dtype().bits;
  const int64_t lanes = group / vec;
  const bool is_group = group > 0 && group % vec == 0 && lanes <= kMostGroupLanes &&
                        (lanes & (lanes - 1)) == 0 && residual.size(1) % group == 0;
  if (!is_group) {
    fictl::raise(fictl::argument_error(ErrorKind::NotImplementedError, op, "group_size")
                 << "is " << group << "; accepted of rows of " << residual.size(1)
                 << ": divisors that are " << vec << " times a power of two up to "
                 << kMostGroupLanes);
  }
  fictl::check_dtype(op, "scale_out", scales, fictl::kInt32);
  fictl::check_dim(op, "scale_out", scales, 2);
  const int64_t words = (residual.size(1) / group + 3) / 4;
  const bool is_columns = scales.size(0) == residual.size(0) && scales.size(1) == words &&
                          (scales.size(0) <= 1 || scales.stride(0) == 1) &&
                          (words <= 1 || scales.stride(1) >= scales.size(0));
  if (is_columns) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "scale_out")
               << "has shape " << Shape{scales} << " and strides " << fictl::Strides{scales}
               << "; it has to be (" << residual.size(0) << ", " << words
               << ") with contiguous columns");
}

void check_block_scales(const char* op, View scales, View residual, int64_t layout) {
  if (residual.dtype().bits != 16 || residual.size(1) % kFp4Block != 0) {
    fictl::raise(fictl::argument_error(ErrorKind::NotImplementedError, op, "quantize")
                 << "is 'nvfp4', for rows of float16 or bfloat16, multiples of " << kFp4Block
                 << "; they are " << residual.size(1) << " of " << residual.dtype());
  }
  if (layout < 0 || layout > 2) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "layout")
                 << "is " << layout << "; accepted: 0 (128x4), 1 (8x4), 2 (linear)");
  }
  const int64_t tile = layout == 0 ? 128 : layout == 1 ? 8 : 1;
  const int64_t blocks = residual.size(1) / kFp4Block;
  const int64_t cols = layout == 2 ? blocks : (blocks + 3) / 4 * 4;
  const int64_t bytes = (residual.size(0) + tile - 1) / tile * tile * cols;
  fictl::check_contiguous(op, "scale_out", scales);
  const int64_t there = scales.numel() * scales.dtype().bits / 8;
  if (there >= bytes) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "scale_out")
               << "has " << there << " bytes; of this layout there are " << bytes);
}

void check_quantization(const char* op, View residual, int64_t quantizes, const OptionalView& out,
                        const OptionalView& scales, const OptionalView& scale,
                        int64_t group_or_layout) {
  if (quantizes == kNothing) return;
  const int64_t elements = residual.numel();
  check_quant_out(op, out, residual, quantizes == kFp4 ? elements / 2 : elements);
  if (quantizes == kTensor || quantizes == kFp4) check_scale(op, scale, residual);
  if (quantizes == kTensor) return;
  require(op, "scale_out", scales, "the scales go there");
  fictl::check_same_device(op, "scale_out", *scales, "residual", residual);
  if (quantizes == kToken) check_token_scales(op, *scales, residual);
  if (quantizes == kGroups) check_group_scales(op, *scales, residual, group_or_layout);
  if (quantizes == kFp4) check_block_scales(op, *scales, residual, group_or_layout);
}

// Rows of experts: those of all tokens for each expert, or in any order, found by their places.
void check_experts(const char* op, View residual, int64_t adds, int64_t count,
                   const OptionalView& experts, const OptionalView& scales,
                   const OptionalView& places) {
  if (adds == kInput) return;
  require(op, "experts", experts, "the output of the experts");
  check_plain(op, "experts", *experts, residual);
  fictl::check_same_dtype(op, "experts", *experts, "residual", residual);
  const int64_t rows = residual.size(0);
  if (adds == kReduced) check_count(op, "experts", *experts, count * residual.numel());
  if (scales.has_value()) {
    check_plain(op, "scales", *scales, residual);
    check_count(op, "scales", *scales, count * rows);
    fictl::check_dtype(op, "scales", *scales, {fictl::kFloat32, residual.dtype()});
  }
  if (adds != kFinalized) return;
  fictl::check_dim(op, "experts", *experts, 2);
  if ((*experts).size(1) != residual.size(1)) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "experts")
                 << "has rows of " << (*experts).size(1) << " elements, 'residual' of "
                 << residual.size(1));
  }
  require(op, "places", places, "the rows of the experts' output, by token");
  check_plain(op, "places", *places, residual);
  fictl::check_dtype(op, "places", *places, fictl::kInt32);
  check_count(op, "places", *places, count * rows);
}

// Why written out: torch.compile reads what is exported by its definition.
void all_reduce_norm(std::string op, View residual, View weight, int64_t adds,
                     tvm::ffi::Optional<View> input, tvm::ffi::Optional<View> experts,
                     tvm::ffi::Optional<View> scales, tvm::ffi::Optional<View> places,
                     int64_t count, double factor, tvm::ffi::Optional<View> sum_out,
                     tvm::ffi::Optional<View> residual_out, tvm::ffi::Optional<View> out,
                     double eps, double weight_bias, int64_t quantizes,
                     tvm::ffi::Optional<View> quant_out, tvm::ffi::Optional<View> scale_out,
                     tvm::ffi::Optional<View> scale, int64_t group_or_layout, View workspace,
                     View host_peers, int64_t lamport_bytes, int64_t flag_bytes, int64_t protocol,
                     bool two_shot, bool triggers_early, bool enable_pdl) {
  const char* name = op.c_str();
  check_residual(name, residual, weight);
  fictl::check_same_device(name, "workspace", workspace, "residual", residual);
  check_rows(name, "input", input, residual);
  check_rows(name, "sum_out", sum_out, residual);
  check_rows(name, "residual_out", residual_out, residual);
  check_rows(name, "out", out, residual);
  check_experts(name, residual, adds, count, experts, scales, places);
  check_quantization(name, residual, quantizes, quant_out, scale_out, scale, group_or_layout);
  const fictl::NormCall call{adds,
                             pointer(input),
                             pointer(experts),
                             pointer(scales),
                             pointer(places),
                             count,
                             factor,
                             pointer(sum_out),
                             pointer(residual_out),
                             pointer(out),
                             eps,
                             weight_bias,
                             quantizes,
                             pointer(quant_out),
                             pointer(scale_out),
                             pointer(scale),
                             group_or_layout};
  const fictl::ChannelArguments how{host_peers, lamport_bytes, flag_bytes, protocol, two_shot};
  fictl::call(name, residual, fictl::comm::all_reduce_norm, residual, weight, call, how,
              triggers_early, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(all_reduce_norm, all_reduce_norm);
