#include <binding/indices.h>
#include <binding/launch.h>

#include <fictl/rope/apply.cuh>

namespace fictl::rope {

namespace {

// The strides of (tokens, heads, head_dim), or of (tokens, heads * head_dim).
HeadsPitch pitch_of(View x, int64_t head_dim) {
  return {x.stride(0), x.ndim() == 3 ? x.stride(1) : head_dim};
}

template <typename T>
Heads<T> heads_of(View input, View output, int64_t head_dim) {
  const int64_t count = input.ndim() == 3 ? input.size(1) : input.size(1) / head_dim;
  return {input.data<const T>(), output.data<T>(), static_cast<int>(count),
          pitch_of(input, head_dim), pitch_of(output, head_dim)};
}

struct Tensors {
  const char* name;  // of q, for messages
  View q;
  View k;
  View q_out;
  View k_out;
  int64_t head_dim;
};

template <typename Positions, typename Angles>
void apply(const Launch& launch, const Tensors& x, int64_t rotary_dim, bool interleave,
           const Positions& positions, const Angles& angles, bool enable_pdl) {
  const ApplyShape shape{x.q.size(0), static_cast<int>(x.head_dim), static_cast<int>(rotary_dim),
                         interleave};
  dispatch_dtype(launch, x.name, x.q, Types<__half, __nv_bfloat16, float>(), [&](auto type) {
    using T = typename decltype(type)::type;
    const QueriesAndKeys<T> heads{
        {heads_of<T>(x.q, x.q_out, x.head_dim), heads_of<T>(x.k, x.k_out, x.head_dim)}};
    CUDA_CHECK(launch,
               Apply(heads, shape, positions, angles, launch.stream, launch.pdl && enable_pdl));
  });
}

// No smoothing without an old context.
Smoothing smoothing(double low_factor, double high_factor, double old_context) {
  if (old_context == 0) return {};
  return Smoothing::llama31(low_factor, high_factor, old_context);
}

}  // namespace

void apply_segments(const Launch& launch, View q, View k, View q_out, View k_out, View indptr,
                    View offsets, int64_t rotary_dim, bool interleave, double scale, double theta,
                    double low_factor, double high_factor, double old_context, bool enable_pdl) {
  const int64_t count = offsets.size(0);
  const Segments segments{indices<device::Indices>(launch, "indptr", indptr, count + 1),
                          indices<device::Indices>(launch, "offsets", offsets, count), count};
  const Frequencies frequencies(rotary_dim, scale, theta,
                                smoothing(low_factor, high_factor, old_context));
  apply(launch, {"q", q, k, q_out, k_out, q.size(2)}, rotary_dim, interleave, segments, frequencies,
        enable_pdl);
}

void apply_pos_ids(const Launch& launch, View q, View k, View q_out, View k_out, View pos_ids,
                   int64_t rotary_dim, bool interleave, double scale, double theta,
                   double low_factor, double high_factor, double old_context, bool enable_pdl) {
  const PositionIds positions{indices<device::Indices>(launch, "pos_ids", pos_ids, q.size(0))};
  const Frequencies frequencies(rotary_dim, scale, theta,
                                smoothing(low_factor, high_factor, old_context));
  apply(launch, {"q", q, k, q_out, k_out, q.size(2)}, rotary_dim, interleave, positions,
        frequencies, enable_pdl);
}

void apply_table(const Launch& launch, View positions, View query, View key, View q_out, View k_out,
                 int64_t head_size, View cos_sin_cache, bool interleave, bool enable_pdl) {
  const int64_t rotary_dim = cos_sin_cache.size(1);
  const PositionIds ids{indices<device::Indices>(launch, "positions", positions, query.size(0))};
  const CosSinTable table{cos_sin_cache.data<const float>(), static_cast<int>(rotary_dim)};
  apply(launch, {"query", query, key, q_out, k_out, head_size}, rotary_dim, interleave, ids, table,
        enable_pdl);
}

}  // namespace fictl::rope
