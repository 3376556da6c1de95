#include <binding/ffi.h>

namespace fictl::quantization {
int64_t scales_in_memory(int64_t layout, int64_t rows, int64_t cols);
void quantize_mxfp8(const Launch& launch, View out, View out_sf, const char* name, View input,
                    int64_t layout, bool enable_pdl);
void quantize_mxfp4(const Launch& launch, View out, View out_sf, const char* name, View input,
                    int64_t layout, bool enable_pdl);
void quantize_nvfp4(const Launch& launch, View out, View out_sf, const char* name, View input,
                    View global, bool inverse, int64_t layout, bool enable_pdl);
void dequantize_mxfp8(const Launch& launch, View out, const char* name, View input, View scales,
                      int64_t layout, bool enable_pdl);
void dequantize_fp4(const Launch& launch, View out, const char* name, View input, View scales,
                    const float* global, int64_t block, bool e4m3_scales, int64_t layout,
                    bool enable_pdl);
void interleave(const Launch& launch, View out, View unswizzled_sf, bool enable_pdl);
}  // namespace fictl::quantization

namespace {

namespace quantization = fictl::quantization;
using fictl::argument_error;
using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

int64_t rows_of(View x) {
  int64_t rows = 1;
  for (int dim = 0; dim < x.ndim() - 1; ++dim) rows *= x.size(dim);
  return rows;
}

void check_rows(const char* op, const char* name, View x) {
  constexpr int64_t kMostRows = 2'000'000'000;
  if (x.ndim() < 2) {
    fictl::raise(argument_error(ErrorKind::ValueError, op, name)
                 << "has shape " << Shape{x} << "; pass it as (..., rows, cols)");
  }
  if (rows_of(x) <= kMostRows) return;
  fictl::raise(argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{x} << "; pass no more than " << kMostRows
               << " rows at a time");
}

void check_blocks(const char* op, const char* name, View x, int64_t cols, int64_t block) {
  if (cols % block == 0) return;
  fictl::raise(argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{x} << ", rows of " << cols
               << " values: not a multiple of the block size, " << block);
}

// out: the rows of input, with `cols` elements each.
void check_out(const char* op, View out, View input, const char* input_name, int64_t cols) {
  bool same = out.ndim() == input.ndim() && out.size(-1) == cols;
  for (int dim = 0; same && dim < out.ndim() - 1; ++dim) same = out.size(dim) == input.size(dim);
  if (same) return;
  fictl::raise(argument_error(ErrorKind::ValueError, op, "out")
               << "has shape " << Shape{out} << ": it needs the rows of '" << input_name
               << "' of shape " << Shape{input} << ", of " << cols << " elements");
}

void check_layout(const char* op, int64_t layout) {
  if (layout >= 0 && layout <= 2) return;
  fictl::raise(fictl::Error(ErrorKind::ValueError)
               << op << ": the layout of the scales is " << layout
               << "; accepted: those of SfLayout, 0 (128x4), 1 (8x4), 2 (linear)");
}

void check_scales(const char* op, const char* name, View scales, int64_t layout, int64_t rows,
                  int64_t cols) {
  fictl::check_dtype(op, name, scales, fictl::kUInt8);
  fictl::check_contiguous(op, name, scales);
  const int64_t wanted = quantization::scales_in_memory(layout, rows, cols);
  if (scales.numel() == wanted) return;
  fictl::raise(argument_error(ErrorKind::ValueError, op, name)
               << "has " << scales.numel() << " elements; " << rows << " rows of " << cols
               << " blocks take " << wanted << " in this layout");
}

struct Quantized {
  View out;
  View out_sf;
  View input;
  const char* input_name;
};

void check_quantized(const char* op, const Quantized& x, DLDataType out_dtype, int64_t out_cols,
                     int64_t blocks, int64_t layout) {
  fictl::check_same_device(op, "out", x.out, x.input_name, x.input);
  fictl::check_same_device(op, "out_sf", x.out_sf, x.input_name, x.input);
  fictl::check_dtype(op, "out", x.out, out_dtype);
  check_out(op, x.out, x.input, x.input_name, out_cols);
  check_layout(op, layout);
  check_scales(op, "out_sf", x.out_sf, layout, rows_of(x.input), blocks);
}

void check_fp4(const char* op, const Quantized& x, int64_t block, int64_t layout) {
  fictl::check_device(op, x.input_name, x.input);
  check_rows(op, x.input_name, x.input);
  const int64_t cols = x.input.size(-1);
  check_blocks(op, x.input_name, x.input, cols, block);
  check_quantized(op, x, fictl::kUInt8, cols / 2, cols / block, layout);
}

void check_global(const char* op, const char* name, View global, const char* input_name,
                  View input) {
  fictl::check_same_device(op, name, global, input_name, input);
  fictl::check_dtype(op, name, global, fictl::kFloat32);
  fictl::check_contiguous(op, name, global);
  if (global.numel() == 1 || global.numel() == rows_of(input)) return;
  fictl::raise(argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{global} << "; pass one number, or one for each of "
               << rows_of(input) << " rows");
}

void mxfp8_quantize(View out, View out_sf, View input, int64_t alignment, int64_t layout,
                    bool enable_pdl) {
  constexpr int64_t kBlock = 32;
  fictl::check_device(__func__, "input", input);
  check_rows(__func__, "input", input);
  const int64_t cols = input.size(-1);
  check_blocks(__func__, "input", input, cols, kBlock);
  if (alignment <= 0 || alignment % kBlock != 0) {
    fictl::raise(argument_error(ErrorKind::ValueError, __func__, "alignment")
                 << "is " << alignment << "; pass a multiple of " << kBlock);
  }
  const int64_t padded = (cols + alignment - 1) / alignment * alignment;
  check_quantized(__func__, {out, out_sf, input, "input"}, fictl::kFloat8E4M3, padded,
                  padded / kBlock, layout);
  fictl::call(__func__, input, quantization::quantize_mxfp8, out, out_sf, "input", input, layout,
              enable_pdl);
}

void nvfp4_quantize(View out, View out_sf, View a, View a_global_sf, int64_t layout,
                    bool enable_pdl) {
  check_fp4(__func__, {out, out_sf, a, "a"}, 16, layout);
  check_global(__func__, "a_global_sf", a_global_sf, "a", a);
  fictl::call(__func__, a, quantization::quantize_nvfp4, out, out_sf, "a", a, a_global_sf, false,
              layout, enable_pdl);
}

void mxfp4_quantize(View out, View out_sf, View a, int64_t layout, bool enable_pdl) {
  check_fp4(__func__, {out, out_sf, a, "a"}, 32, layout);
  fictl::call(__func__, a, quantization::quantize_mxfp4, out, out_sf, "a", a, layout, enable_pdl);
}

void fp4_quantize(View out, View out_sf, View input, tvm::ffi::Optional<View> global_scale,
                  int64_t sf_vec_size, bool sf_use_ue8m0, int64_t layout, bool inverse,
                  bool enable_pdl) {
  fictl::check_device(__func__, "input", input);
  if (sf_vec_size != (sf_use_ue8m0 ? 32 : 16)) {
    fictl::raise(argument_error(ErrorKind::ValueError, __func__, "sf_vec_size")
                 << "is " << sf_vec_size << (sf_use_ue8m0 ? " with" : " without")
                 << " sf_use_ue8m0; there are blocks of 16 without it and of 32 with it");
  }
  check_fp4(__func__, {out, out_sf, input, "input"}, sf_vec_size, layout);
  if (sf_use_ue8m0) {
    fictl::call(__func__, input, quantization::quantize_mxfp4, out, out_sf, "input", input, layout,
                enable_pdl);
    return;
  }
  if (!global_scale.has_value()) {
    fictl::raise(argument_error(ErrorKind::ValueError, __func__, "global_scale")
                 << "is None; scales of e4m3 need it: pass 448 * 6 / input.abs().max()");
  }
  check_global(__func__, "global_scale", *global_scale, "input", input);
  fictl::call(__func__, input, quantization::quantize_nvfp4, out, out_sf, "input", input,
              *global_scale, inverse, layout, enable_pdl);
}

struct Dequantized {
  View out;
  View values;
  const char* values_name;
  View scales;
  const char* scales_name;
};

void check_dequantized(const char* op, const Dequantized& x, int64_t cols, int64_t block,
                       int64_t layout) {
  fictl::check_same_device(op, x.scales_name, x.scales, x.values_name, x.values);
  fictl::check_same_device(op, "out", x.out, x.values_name, x.values);
  check_rows(op, x.values_name, x.values);
  check_blocks(op, x.values_name, x.values, cols, block);
  fictl::check_dtype(op, "out", x.out, fictl::kFloat32);
  check_out(op, x.out, x.values, x.values_name, cols);
  check_layout(op, layout);
  check_scales(op, x.scales_name, x.scales, layout, rows_of(x.values), cols / block);
}

void mxfp8_dequantize(View out, View input, View scale_tensor, int64_t layout, bool enable_pdl) {
  fictl::check_device(__func__, "input", input);
  fictl::check_dtype(__func__, "input", input, {fictl::kFloat8E4M3, fictl::kUInt8});
  check_dequantized(__func__, {out, input, "input", scale_tensor, "scale_tensor"}, input.size(-1),
                    32, layout);
  fictl::call(__func__, input, quantization::dequantize_mxfp8, out, "input", input, scale_tensor,
              layout, enable_pdl);
}

void mxfp4_dequantize(View out, View a_fp4, View a_sf, int64_t layout, bool enable_pdl) {
  fictl::check_device(__func__, "a_fp4", a_fp4);
  fictl::check_dtype(__func__, "a_fp4", a_fp4, fictl::kUInt8);
  check_dequantized(__func__, {out, a_fp4, "a_fp4", a_sf, "a_sf"}, a_fp4.size(-1) * 2, 32, layout);
  const float* no_global = nullptr;
  fictl::call(__func__, a_fp4, quantization::dequantize_fp4, out, "a_fp4", a_fp4, a_sf, no_global,
              32, false, layout, enable_pdl);
}

void e2m1_and_ufp8sf_scale_to_float(View out, View e2m1_tensor, View ufp8_scale_tensor,
                                    tvm::ffi::Optional<View> global_scale_tensor,
                                    int64_t sf_vec_size, int64_t ufp8_type, int64_t layout,
                                    bool enable_pdl) {
  fictl::check_device(__func__, "e2m1_tensor", e2m1_tensor);
  fictl::check_dtype(__func__, "e2m1_tensor", e2m1_tensor, fictl::kUInt8);
  if (sf_vec_size != 16 && sf_vec_size != 32) {
    fictl::raise(argument_error(ErrorKind::ValueError, __func__, "sf_vec_size")
                 << "is " << sf_vec_size << "; accepted: 16, 32");
  }
  if (ufp8_type != 0 && ufp8_type != 1) {
    fictl::raise(argument_error(ErrorKind::ValueError, __func__, "ufp8_type")
                 << "is " << ufp8_type << "; accepted: 0 (UE8M0), 1 (E4M3)");
  }
  check_dequantized(__func__,
                    {out, e2m1_tensor, "e2m1_tensor", ufp8_scale_tensor, "ufp8_scale_tensor"},
                    e2m1_tensor.size(-1) * 2, sf_vec_size, layout);
  const float* global = nullptr;
  if (global_scale_tensor.has_value()) {
    const View scale = *global_scale_tensor;
    fictl::check_same_device(__func__, "global_scale_tensor", scale, "e2m1_tensor", e2m1_tensor);
    fictl::check_dtype(__func__, "global_scale_tensor", scale, fictl::kFloat32);
    if (scale.numel() != 1) {
      fictl::raise(argument_error(ErrorKind::ValueError, __func__, "global_scale_tensor")
                   << "has shape " << Shape{scale} << "; pass one number");
    }
    global = scale.data<const float>();
  }
  fictl::call(__func__, e2m1_tensor, quantization::dequantize_fp4, out, "e2m1_tensor", e2m1_tensor,
              ufp8_scale_tensor, global, sf_vec_size, ufp8_type == 1, layout, enable_pdl);
}

void block_scale_interleave(View out, View unswizzled_sf, bool enable_pdl) {
  fictl::check_device(__func__, "unswizzled_sf", unswizzled_sf);
  fictl::check_contiguous(__func__, "unswizzled_sf", unswizzled_sf);
  const int ndim = unswizzled_sf.ndim();
  if (ndim != 2 && ndim != 3) {
    fictl::raise(argument_error(ErrorKind::ValueError, __func__, "unswizzled_sf")
                 << "has shape " << Shape{unswizzled_sf}
                 << "; pass it as (rows, cols) or (experts, rows, cols)");
  }
  fictl::check_same_device(__func__, "out", out, "unswizzled_sf", unswizzled_sf);
  fictl::check_same_dtype(__func__, "out", out, "unswizzled_sf", unswizzled_sf);
  fictl::check_dim(__func__, "out", out, 1);
  fictl::check_contiguous(__func__, "out", out);
  const int64_t count = ndim == 3 ? unswizzled_sf.size(0) : 1;
  const int64_t wanted =
      count * quantization::scales_in_memory(0, unswizzled_sf.size(-2), unswizzled_sf.size(-1));
  if (out.numel() != wanted) {
    fictl::raise(argument_error(ErrorKind::ValueError, __func__, "out")
                 << "has " << out.numel() << " elements, the padded scales " << wanted);
  }
  fictl::check_aligned(__func__, "out", out, 4 * out.dtype().bits / 8);
  fictl::call(__func__, unswizzled_sf, quantization::interleave, out, unswizzled_sf, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(mxfp8_quantize, mxfp8_quantize);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(nvfp4_quantize, nvfp4_quantize);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(mxfp4_quantize, mxfp4_quantize);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fp4_quantize, fp4_quantize);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(mxfp8_dequantize, mxfp8_dequantize);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(mxfp4_dequantize, mxfp4_dequantize);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(e2m1_and_ufp8sf_scale_to_float, e2m1_and_ufp8sf_scale_to_float);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(block_scale_interleave, block_scale_interleave);
