#include <binding/draws.h>
#include <binding/indices.h>
#include <binding/sampled_rows.h>

#include <fictl/sampling/from_logits.cuh>

namespace fictl::sampling {

void sampling_from_logits(const Launch& launch, View out, View logits, const View* rows,
                          const View* seeds, const View* offsets, int64_t seed, int64_t offset,
                          bool enable_pdl) {
  const int64_t batch = out.size(0);
  const Draws draws = draws_of<Draws>(launch, seeds, offsets, seed, offset, batch);
  const Drawn drawn{out.data<void>(), nullptr, out.dtype().bits == 64};
  device::Indices of_rows;
  if (rows != nullptr) of_rows = indices<device::Indices>(launch, "indices", *rows, batch);
  DISPATCH_DTYPE(launch, logits, T, (__half, __nv_bfloat16, float), {
    const auto from = sampled_rows<Rows<T>, T>(launch, "logits", logits, kMostElements);
    CUDA_CHECK(launch, FromLogits(from, of_rows, batch, draws, drawn, launch.sm_count,
                                  launch.stream, launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::sampling
