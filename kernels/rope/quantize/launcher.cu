#include <binding/indices.h>
#include <binding/launch.h>
#include <binding/paged.h>

#include <fictl/device/element_fp8.cuh>
#include <fictl/rope/quantize.cuh>

namespace fictl::rope {

namespace {

// The heads of (tokens, heads, size), or of (tokens, size) with one head.
struct Heads {
  View x;

  int64_t heads() const { return x.ndim() == 3 ? x.size(1) : 1; }
  int64_t token_pitch() const { return pitch(x, 0); }
  int64_t head_pitch() const { return x.ndim() == 3 ? pitch(x, 1) : 0; }
};

template <typename T, typename Q>
QuantizePart<T, Q> part_of(View from, device::PagedRows<Q> to, double scale) {
  const Heads heads{from};
  QuantizePart<T, Q> part{};
  part.from = from.data<const T>();
  part.token_pitch = heads.token_pitch();
  part.head_pitch = heads.head_pitch();
  part.to = to;
  part.heads = static_cast<int>(heads.heads());
  part.size = static_cast<int>(from.size(-1));
  part.scale = static_cast<float>(scale);
  return part;
}

template <typename T, typename Q>
QuantizePart<T, Q> plain(View from, View to, double scale) {
  const Heads heads{to};
  return part_of<T, Q>(from, {to.data<Q>(), heads.token_pitch(), 0, heads.head_pitch()}, scale);
}

// Writes to the rows of a cache, from element `first` on.
template <typename T, typename Q>
QuantizePart<T, Q> paged(View from, const PagedView& cache, int64_t first, double scale) {
  const device::PagedRows<Q> rows{cache.data<Q>() + first, cache.page_pitch, cache.slot_pitch,
                                  cache.head_pitch};
  QuantizePart<T, Q> part = part_of<T, Q>(from, rows, scale);
  part.paged = true;
  return part;
}

template <typename T, typename Q>
QuantizePart<T, Q> rotated(QuantizePart<T, Q> part) {
  part.rotated = true;
  return part;
}

CosSin cos_sin_of(View cos_sin_cache, bool is_neox) {
  return {cos_sin_cache.data<const float>(), pitch(cos_sin_cache, 0),
          static_cast<int>(cos_sin_cache.size(1) / 2), !is_neox};
}

}  // namespace

void rope_quantize_fp8(const Launch& launch, View q_rope, View k_rope, const View* q_nope,
                       const View* k_nope, View cos_sin_cache, View pos_ids, View q_rope_out,
                       View k_rope_out, const View* q_nope_out, const View* k_nope_out,
                       double quant_scale_q, double quant_scale_kv, bool is_neox, bool enable_pdl) {
  const int64_t tokens = q_rope.size(0);
  const device::Indices positions = indices<device::Indices>(launch, "pos_ids", pos_ids, tokens);
  DISPATCH_DTYPE(launch, q_rope, T, (__half, __nv_bfloat16), {
    DISPATCH_DTYPE(launch, q_rope_out, Q, (__nv_fp8_e4m3, __nv_fp8_e5m2), {
      QuantizePart<T, Q> parts[kQuantizeParts];
      int count = 0;
      parts[count++] = rotated(plain<T, Q>(q_rope, q_rope_out, quant_scale_q));
      parts[count++] = rotated(plain<T, Q>(k_rope, k_rope_out, quant_scale_kv));
      if (q_nope) parts[count++] = plain<T, Q>(*q_nope, *q_nope_out, quant_scale_q);
      if (k_nope) parts[count++] = plain<T, Q>(*k_nope, *k_nope_out, quant_scale_kv);
      CUDA_CHECK(launch,
                 RopeQuantize(parts, count, cos_sin_of(cos_sin_cache, is_neox), positions,
                              AppendedTokens{}, tokens, launch.stream, launch.pdl && enable_pdl));
    });
  });
}

// With values, a row of the key cache is the rotary part followed by the other part. Without values
// (MLA) there is one head, and each part has its own cache: `first` that of k_nope, `second` that
// of k_rope.
void rope_quantize_fp8_append_paged_kv_cache(const Launch& launch, View q_rope, View k_rope,
                                             const View* q_nope, const View* k_nope, const View* v,
                                             View cos_sin_cache, View pos_ids,
                                             const PagedView& first, const PagedView& second,
                                             View kv_indices, View kv_indptr, View batch_indices,
                                             View positions, View q_rope_out,
                                             const View* q_nope_out, double quant_scale_q,
                                             double quant_scale_kv, bool is_neox, bool enable_pdl) {
  const int64_t tokens = q_rope.size(0);
  const int64_t rope_dim = k_rope.size(-1);
  const AppendedTokens append{
      {indices<device::Indices>(launch, "kv_indices", kv_indices, kv_indices.numel()),
       indices<device::Indices>(launch, "kv_indptr", kv_indptr, kv_indptr.numel()),
       device::Divisor(static_cast<int>(first.page_size))},
      indices<device::Indices>(launch, "batch_indices", batch_indices, tokens),
      indices<device::Indices>(launch, "positions", positions, tokens),
  };
  const device::Indices rotary = indices<device::Indices>(launch, "pos_ids", pos_ids, tokens);
  DISPATCH_DTYPE(launch, q_rope, T, (__half, __nv_bfloat16), {
    DISPATCH_DTYPE(launch, q_rope_out, Q, (__nv_fp8_e4m3, __nv_fp8_e5m2), {
      QuantizePart<T, Q> parts[kQuantizeParts];
      int count = 0;
      parts[count++] = rotated(plain<T, Q>(q_rope, q_rope_out, quant_scale_q));
      if (q_nope) parts[count++] = plain<T, Q>(*q_nope, *q_nope_out, quant_scale_q);
      parts[count++] = rotated(paged<T, Q>(k_rope, v ? first : second, 0, quant_scale_kv));
      if (k_nope) parts[count++] = paged<T, Q>(*k_nope, first, v ? rope_dim : 0, quant_scale_kv);
      if (v) parts[count++] = paged<T, Q>(*v, second, 0, quant_scale_kv);
      CUDA_CHECK(launch, RopeQuantize(parts, count, cos_sin_of(cos_sin_cache, is_neox), rotary,
                                      append, tokens, launch.stream, launch.pdl && enable_pdl));
    });
  });
}

}  // namespace fictl::rope
