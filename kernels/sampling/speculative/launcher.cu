#include <binding/draws.h>
#include <binding/sampled_rows.h>

#include <fictl/sampling/speculative.cuh>

namespace fictl::sampling {

namespace {

// The distance that a dimension is walked by. Why not always the stride: that of a dimension of
// size 1 may be anything.
int64_t pitch_of(View x, int dim) { return x.size(dim) > 1 ? x.stride(dim) : 0; }

template <typename T>
StepRows<T> steps_of(View probs) {
  constexpr int64_t kBytes = kTileVec * sizeof(T);
  const T* data = probs.data<const T>();
  const int64_t request = pitch_of(probs, 0);
  const int64_t step = pitch_of(probs, 1);
  const bool aligned = reinterpret_cast<uintptr_t>(data) % kBytes == 0 && request % kTileVec == 0 &&
                       step % kTileVec == 0;
  return {data, request, step, static_cast<int>(probs.size(2)), aligned};
}

}  // namespace

void chain_speculative_sampling(const Launch& launch, View out, View accepted, View emitted,
                                View draft_probs, View draft_token_ids, View target_probs,
                                bool adds_accepted, bool adds_emitted, const View* seeds,
                                const View* offsets, int64_t seed, int64_t offset,
                                bool enable_pdl) {
  const int64_t requests = out.size(0);
  const Draws draws = draws_of<Draws>(launch, seeds, offsets, seed, offset, requests);
  check_row_length(launch, "target_probs", target_probs, kMostElements);
  const Drafts drafts{draft_token_ids.data<const void>(), draft_token_ids.dtype().bits == 64,
                      pitch_of(draft_token_ids, 0), pitch_of(draft_token_ids, 1),
                      static_cast<int>(draft_token_ids.size(1))};
  const Told told{out.data<int32_t>(),     pitch_of(out, 0), accepted.data<int32_t>(),
                  emitted.data<int32_t>(), adds_accepted,    adds_emitted};
  DISPATCH_DTYPE(launch, target_probs, T, (float, __half, __nv_bfloat16), {
    CUDA_CHECK(launch, ChainSpeculative(drafts, steps_of<T>(draft_probs), steps_of<T>(target_probs),
                                        draws, told, requests, launch.sm_count, launch.stream,
                                        launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::sampling
