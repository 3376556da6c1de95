#include <binding/indices.h>
#include <binding/launch.h>
#include <binding/paged_fp4.h>

#include <fictl/page/append_fp4.cuh>

namespace fictl::page {

namespace {

KvGlobal global_of(const KvScaleView& scale) {
  return {scale.tensor == nullptr ? nullptr : scale.tensor->data<const float>(),
          static_cast<float>(scale.number)};
}

device::PagedRows<uint8_t> paged(const PagedView& cache) {
  return {cache.data<uint8_t>(), cache.page_pitch, cache.slot_pitch, cache.head_pitch};
}

template <typename T>
TokenRows<T> rows_of(View append) {
  const bool headed = append.ndim() == 3;
  return {append.data<const T>(), pitch(append, 0), headed ? pitch(append, 1) : 0,
          static_cast<int>(headed ? append.size(1) : 1),
          static_cast<int>(append.size(-1) / kFp4Block)};
}

ByPosition by_position(const Launch& launch, const PositionViews& where, int64_t tokens,
                       int64_t page_size) {
  const int64_t batch = where.kv_last_page_len.numel();
  indices<device::Indices>(launch, "kv_last_page_len", where.kv_last_page_len, batch);
  const int64_t used = where.kv_indices.numel();
  return {{indices<device::Indices>(launch, "kv_indices", where.kv_indices, used),
           indices<device::Indices>(launch, "kv_indptr", where.kv_indptr, batch + 1),
           device::Divisor(static_cast<int>(page_size))},
          indices<device::Indices>(launch, "batch_indices", where.batch_indices, tokens),
          indices<device::Indices>(launch, "positions", where.positions, tokens)};
}

BySlot by_slot(const Launch& launch, View slot_mapping, const Fp4Pages& pages) {
  indices<device::Indices>(launch, "slot_mapping", slot_mapping, slot_mapping.numel());
  const int page_size = static_cast<int>(pages.page_size());
  return {slot_mapping.data<const void>(), slot_mapping.stride(0), slot_mapping.dtype().bits == 64,
          static_cast<int>(pages.pages()) * page_size, device::Divisor(page_size)};
}

template <typename T>
ToFp4<T> to_fp4(View append, const Fp4Pages& to, const KvScaleView& scale) {
  return {rows_of<T>(append), paged(to.packed), paged(to.scales), global_of(scale)};
}

template <typename Where>
void append(const Launch& launch, View append_key, View append_value, const Fp4Pages& keys,
            const Fp4Pages& values, const KvScaleView& k_scale, const KvScaleView& v_scale,
            const Where& where, int64_t tokens, bool enable_pdl) {
  DISPATCH_DTYPE(launch, append_key, T, (__half, __nv_bfloat16), {
    CUDA_CHECK(launch, AppendFp4(to_fp4<T>(append_key, keys, k_scale),
                                 to_fp4<T>(append_value, values, v_scale), where, tokens,
                                 launch.stream, launch.pdl && enable_pdl));
  });
}

}  // namespace

void append_by_position(const Launch& launch, View append_key, View append_value,
                        const Fp4Pages& keys, const Fp4Pages& values, const KvScaleView& k_scale,
                        const KvScaleView& v_scale, const PositionViews& where, bool enable_pdl) {
  const int64_t tokens = append_key.size(0);
  append(launch, append_key, append_value, keys, values, k_scale, v_scale,
         by_position(launch, where, tokens, keys.page_size()), tokens, enable_pdl);
}

void append_by_slot(const Launch& launch, View append_key, View append_value, const Fp4Pages& keys,
                    const Fp4Pages& values, const KvScaleView& k_scale, const KvScaleView& v_scale,
                    View slot_mapping, bool enable_pdl) {
  append(launch, append_key, append_value, keys, values, k_scale, v_scale,
         by_slot(launch, slot_mapping, keys), slot_mapping.numel(), enable_pdl);
}

void append_latent(const Launch& launch, View append_ckv, View append_kpe, const Fp4Pages& ckv,
                   const PagedView& kpe, const KvScaleView& ckv_scale, const KvScaleView& kpe_scale,
                   const PositionViews& where, bool enable_pdl) {
  const int64_t tokens = append_ckv.size(0);
  const ByPosition places = by_position(launch, where, tokens, ckv.page_size());
  DISPATCH_DTYPE(launch, append_ckv, T, (__half, __nv_bfloat16), {
    const ToFp8<T> rotated(rows_of<T>(append_kpe), paged(kpe), global_of(kpe_scale));
    CUDA_CHECK(launch, AppendFp4(to_fp4<T>(append_ckv, ckv, ckv_scale), rotated, places, tokens,
                                 launch.stream, launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::page
