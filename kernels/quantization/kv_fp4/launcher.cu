#include <binding/indices.h>
#include <binding/launch.h>
#include <binding/paged_fp4.h>
#include <binding/row_pitch.h>

#include <fictl/quantization/kv_dequantize.cuh>

namespace fictl::quantization {

namespace {

device::PagedRows<const uint8_t> paged(const PagedView& cache) {
  return {cache.data<const uint8_t>(), cache.page_pitch, cache.slot_pitch, cache.head_pitch};
}

template <typename T>
PagedKv<T> paged_kv(const Fp4Pages& from, View scale, View to) {
  const int blocks = static_cast<int>(to.size(3) / kPartValues);
  return {paged(from.packed),
          paged(from.scales),
          scale.data<const float>(),
          to.data<T>(),
          pitch(to, 0),
          pitch(to, 1),
          pitch(to, 2),
          device::Divisor(blocks > 0 ? blocks : 1),
          static_cast<int>(to.size(2)) * blocks};
}

}  // namespace

void quantize_kv(const Launch& launch, View out, View out_sf, View input, View global_scale,
                 bool enable_pdl) {
  const int rows = static_cast<int>(input.size(0));
  const int parts = static_cast<int>(input.size(1) / kPartValues);
  const GlobalScale global{global_scale.data<const float>(), 0, false};
  const BlockScaledShape shape{rows,
                               parts,
                               parts,
                               ROW_PITCH(launch, input),
                               WRITTEN_ROW_PITCH(launch, out),
                               ScaleMatrix(ScaleLayout::kLinear, rows, parts)};
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16), {
    CUDA_CHECK(launch, BlockQuantize<KvFp4>(input.data<const T>(), global, out.data<uint8_t>(),
                                            out_sf.data<uint8_t>(), shape, launch.stream,
                                            launch.pdl && enable_pdl));
  });
}

void dequantize_kv(const Launch& launch, View out, View fp4_data, View block_scales,
                   View global_scale, bool enable_pdl) {
  DISPATCH_DTYPE(launch, out, T, (__half, __nv_bfloat16), {
    const KvMatrix<T> matrix{fp4_data.data<const uint8_t>(),   block_scales.data<const uint8_t>(),
                             global_scale.data<const float>(), out.data<T>(),
                             ROW_PITCH(launch, fp4_data),      ROW_PITCH(launch, block_scales),
                             WRITTEN_ROW_PITCH(launch, out)};
    CUDA_CHECK(launch, KvDequantize(matrix, out.size(0), static_cast<int>(block_scales.size(1)),
                                    launch.stream, launch.pdl && enable_pdl));
  });
}

void dequantize_paged_kv(const Launch& launch, const Fp4Pages& keys, const Fp4Pages& values,
                         View block_tables, View seq_lens, View k_scale, View v_scale,
                         View output_k, View output_v, bool enable_pdl) {
  const int64_t requests = output_k.size(0);
  const int words = block_tables.dtype().bits / 32;
  const BlockTables tables{block_tables.data<const int32_t>(), block_tables.stride(0) * words,
                           block_tables.stride(1) * words, keys.pages()};
  const auto lengths = indices<device::Indices>(launch, "seq_lens", seq_lens, requests);
  DISPATCH_DTYPE(launch, output_k, T, (__half, __nv_bfloat16), {
    CUDA_CHECK(launch,
               KvDequantizePaged(
                   paged_kv<T>(keys, k_scale, output_k), paged_kv<T>(values, v_scale, output_v),
                   tables, lengths, static_cast<int>(requests), static_cast<int>(output_k.size(1)),
                   static_cast<int>(keys.page_size()), launch.stream, launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::quantization
