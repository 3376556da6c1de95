#include <binding/filter.h>
#include <binding/sampled_rows.h>

#include <fictl/sampling/renorm.cuh>

#include "config.inc"

namespace fictl::sampling {

namespace {

template <typename U>
Renormed<T, U> rows_of(const Launch& launch, View out, const char* name, View x) {
  const Rows<T> rows = sampled_rows<Rows<T>, T>(launch, name, x, kMostElements);
  const int64_t pitch = WRITTEN_ROW_PITCH(launch, out);
  U* to = out.data<U>();
  const bool aligned =
      reinterpret_cast<uintptr_t>(to) % (kTileVec * sizeof(U)) == 0 && pitch % kTileVec == 0;
  return {rows, to, pitch, aligned};
}

}  // namespace

void top_p_renorm_probs(const Launch& launch, View out, View probs, const View* p, double p_value,
                        bool enable_pdl) {
  const Filter filter = filter_of<Filter>(launch, probs.size(0), nullptr, 0, "top_p", p, p_value);
  CUDA_CHECK(launch, Renorm(rows_of<float>(launch, out, "probs", probs), filter, launch.sm_count,
                            launch.stream, launch.pdl && enable_pdl));
}

void top_k_renorm_probs(const Launch& launch, View out, View probs, const View* k, int64_t k_value,
                        bool enable_pdl) {
  const Filter filter = filter_of<Filter>(launch, probs.size(0), k, k_value, "top_p", nullptr, 1.0);
  CUDA_CHECK(launch, Renorm(rows_of<T>(launch, out, "probs", probs), filter, launch.sm_count,
                            launch.stream, launch.pdl && enable_pdl));
}

void top_k_mask_logits(const Launch& launch, View out, View logits, const View* k, int64_t k_value,
                       bool enable_pdl) {
  const Filter filter =
      filter_of<Filter>(launch, logits.size(0), k, k_value, "top_p", nullptr, 1.0);
  CUDA_CHECK(launch, MaskBelow(rows_of<T>(launch, out, "logits", logits), filter, launch.sm_count,
                               launch.stream, launch.pdl && enable_pdl));
}

}  // namespace fictl::sampling
