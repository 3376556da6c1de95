#include <binding/draws.h>
#include <binding/filter.h>
#include <binding/sampled_rows.h>

#include <fictl/sampling/from_probs.cuh>

#include "config.inc"

namespace fictl::sampling {

namespace {

struct Call {
  Rows<T> probs;
  device::Indices rows;
  int64_t batch;
  Draws draws;
  Drawn drawn;
  bool pdl;
};

Call call_of(const Launch& launch, View out, const View* valid, View probs, const View* indices,
             const View* seeds, const View* offsets, int64_t seed, int64_t offset,
             bool enable_pdl) {
  const int64_t batch = out.size(0);
  Call call{sampled_rows<Rows<T>, T>(launch, "probs", probs, kMostElements), {}, batch};
  if (indices != nullptr) {
    call.rows = fictl::indices<device::Indices>(launch, "indices", *indices, batch);
  }
  call.draws = draws_of<Draws>(launch, seeds, offsets, seed, offset, batch);
  call.drawn = {out.data<void>(), valid == nullptr ? nullptr : valid->data<bool>(),
                out.dtype().bits == 64};
  call.pdl = launch.pdl && enable_pdl;
  return call;
}

template <Keep kKeep>
void run(const Launch& launch, const Call& call, const Filter& filter) {
  CUDA_CHECK(launch, (FromProbs<kKeep>(call.probs, call.rows, call.batch, filter, call.draws,
                                       call.drawn, launch.sm_count, launch.stream, call.pdl)));
}

}  // namespace

void from_probs(const Launch& launch, View out, const View* valid, View probs, const View* indices,
                const View* seeds, const View* offsets, int64_t seed, int64_t offset,
                bool enable_pdl) {
  run<Keep::kAll>(
      launch, call_of(launch, out, valid, probs, indices, seeds, offsets, seed, offset, enable_pdl),
      {});
}

void from_probs_min_p(const Launch& launch, View out, const View* valid, View probs,
                      const View* indices, const View* p, double p_value, const View* seeds,
                      const View* offsets, int64_t seed, int64_t offset, bool enable_pdl) {
  run<Keep::kMinP>(
      launch, call_of(launch, out, valid, probs, indices, seeds, offsets, seed, offset, enable_pdl),
      filter_of<Filter>(launch, probs.size(0), nullptr, 0, "min_p", p, p_value));
}

void from_probs_top(const Launch& launch, View out, const View* valid, View probs,
                    const View* indices, const View* k, int64_t k_value, const View* p,
                    double p_value, bool k_first, const View* seeds, const View* offsets,
                    int64_t seed, int64_t offset, bool enable_pdl) {
  const Call call =
      call_of(launch, out, valid, probs, indices, seeds, offsets, seed, offset, enable_pdl);
  const Filter filter = filter_of<Filter>(launch, probs.size(0), k, k_value, "top_p", p, p_value);
  (k_first ? run<Keep::kTopKFirst> : run<Keep::kTop>)(launch, call, filter);
}

}  // namespace fictl::sampling
