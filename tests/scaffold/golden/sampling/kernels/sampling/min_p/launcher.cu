#include <binding/draws.h>
#include <binding/indices.h>
#include <binding/launch.h>
#include <binding/row_pitch.h>
#include <binding/sampled_rows.h>

#include <my_kernels/sampling/min_p.cuh>

namespace my_kernels::sampling {

using fictl::Launch;
using fictl::View;

void min_p(const Launch& launch, View out, View probs, double base, const View* indices,
           const View* seeds, const View* offsets, int64_t seed, int64_t offset) {
  const int64_t tokens = out.size(0);
  fictl::check_row_length(launch, "probs", probs, sampler::kMostElements);
  DISPATCH_DTYPE(launch, probs, T, (__half, __nv_bfloat16, float), {
    MinPArgs<T> args;
    args.out = out.data<int32_t>();
    args.probs = probs.data<const T>();
    args.base = static_cast<float>(base);
    if (indices != nullptr) {
      args.indices = fictl::indices<device::Indices>(launch, "indices", *indices, tokens);
    }
    args.draws = fictl::draws_of<sampler::Draws>(launch, seeds, offsets, seed, offset, tokens);
    args.tokens = tokens;
    args.rows = probs.size(0);
    args.cols = static_cast<int>(probs.size(1));
    args.probs_pitch = ROW_PITCH(launch, probs);
    CUDA_CHECK(launch, MinP(args, launch.sm_count, launch.stream, launch.pdl));
  });
}

}  // namespace my_kernels::sampling
