#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <fictl/quantization/block_dequantize.cuh>
#include <fictl/quantization/block_scaled.cuh>
#include <fictl/quantization/scale_interleave.cuh>

namespace fictl::quantization {

namespace {

int rows_of(View x) {
  int64_t rows = 1;
  for (int dim = 0; dim < x.ndim() - 1; ++dim) rows *= x.size(dim);
  return static_cast<int>(rows);
}

template <typename Format>
void quantize(const Launch& launch, View out, View out_sf, const char* name, View input,
              const GlobalScale& global, int64_t layout, bool enable_pdl) {
  const int rows = rows_of(input);
  const int64_t blocks = out.size(-1) * kPartValues / (Format::kPartBytes * Format::kBlock);
  const BlockScaledShape shape{rows,
                               static_cast<int>(input.size(-1) / kPartValues),
                               static_cast<int>(out.size(-1) / Format::kPartBytes),
                               row_pitch(launch.op, name, input),
                               WRITTEN_ROW_PITCH(launch, out),
                               ScaleMatrix(static_cast<ScaleLayout>(layout), rows, blocks)};
  dispatch_dtype(launch, name, input, Types<__half, __nv_bfloat16>(), [&](auto type) {
    using T = typename decltype(type)::type;
    CUDA_CHECK(launch, (BlockQuantize<Format>(input.data<const T>(), global, out.data<uint8_t>(),
                                              out_sf.data<uint8_t>(), shape, launch.stream,
                                              launch.pdl && enable_pdl)));
  });
}

template <typename Values>
void dequantize(const Launch& launch, View out, const char* name, View input, View scales,
                const float* global, int64_t block, bool e4m3_scales, int64_t layout,
                bool enable_pdl) {
  const int rows = rows_of(out);
  const BlockDequantizeShape shape{
      rows,
      static_cast<int>(out.size(-1) / kQuad),
      row_pitch(launch.op, name, input),
      WRITTEN_ROW_PITCH(launch, out),
      block == 16 ? 4 : 5,
      e4m3_scales,
      ScaleMatrix(static_cast<ScaleLayout>(layout), rows, out.size(-1) / block)};
  CUDA_CHECK(launch, BlockDequantize<Values>(
                         input.data<const uint8_t>(), scales.data<const uint8_t>(), global,
                         out.data<float>(), shape, launch.stream, launch.pdl && enable_pdl));
}

}  // namespace

int64_t scales_in_memory(int64_t layout, int64_t rows, int64_t cols) {
  return ScaleMatrix(static_cast<ScaleLayout>(layout), rows, cols).size();
}

void quantize_mxfp8(const Launch& launch, View out, View out_sf, const char* name, View input,
                    int64_t layout, bool enable_pdl) {
  quantize<MxFp8>(launch, out, out_sf, name, input, {}, layout, enable_pdl);
}

void quantize_mxfp4(const Launch& launch, View out, View out_sf, const char* name, View input,
                    int64_t layout, bool enable_pdl) {
  quantize<MxFp4>(launch, out, out_sf, name, input, {}, layout, enable_pdl);
}

void quantize_nvfp4(const Launch& launch, View out, View out_sf, const char* name, View input,
                    View global, bool inverse, int64_t layout, bool enable_pdl) {
  const GlobalScale scale{global.data<const float>(), global.numel() == 1 ? 0 : 1, inverse};
  quantize<NvFp4>(launch, out, out_sf, name, input, scale, layout, enable_pdl);
}

void dequantize_mxfp8(const Launch& launch, View out, const char* name, View input, View scales,
                      int64_t layout, bool enable_pdl) {
  dequantize<E4M3Values>(launch, out, name, input, scales, nullptr, MxFp8::kBlock, false, layout,
                         enable_pdl);
}

void dequantize_fp4(const Launch& launch, View out, const char* name, View input, View scales,
                    const float* global, int64_t block, bool e4m3_scales, int64_t layout,
                    bool enable_pdl) {
  dequantize<E2M1Values>(launch, out, name, input, scales, global, block, e4m3_scales, layout,
                         enable_pdl);
}

void interleave(const Launch& launch, View out, View unswizzled_sf, bool enable_pdl) {
  const int64_t count = unswizzled_sf.ndim() == 3 ? unswizzled_sf.size(0) : 1;
  const ScaleInterleaveShape shape{count, unswizzled_sf.size(-2),
                                   static_cast<int>(unswizzled_sf.size(-1))};
  DISPATCH_DTYPE(launch, unswizzled_sf, T, (uint8_t, __nv_bfloat16), {
    CUDA_CHECK(launch, ScaleInterleave(unswizzled_sf.data<const T>(), out.data<T>(), shape,
                                       launch.stream, launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::quantization
