#include <binding/launch.h>

#include <fictl/segment/segment_sum.cuh>

namespace fictl::segment {

namespace {

SegmentSumPlan plan_of(View pieces, View units, View merges) {
  return {pieces.data<const SegmentSumPiece>(), units.data<const int32_t>(),
          merges.data<const SegmentSumMerge>(), units.size(0) - 1, merges.size(0) - 1};
}

// Why not always the stride: that of a dimension of size 1 may be anything.
int64_t pitch_of(View x) { return x.size(0) > 1 ? x.stride(0) : x.size(1); }

}  // namespace

void segment_sum(const Launch& launch, View out, View input, View pieces, View units, View merges,
                 View workspace, int64_t units_a_walker, bool enable_pdl) {
  const SegmentSumPlan plan = plan_of(pieces, units, merges);
  const SegmentSumShape shape{input.size(1), pitch_of(input), pitch_of(out)};
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16, float), {
    CUDA_CHECK(launch, SegmentSum(input.data<const T>(), plan, out.data<T>(),
                                  workspace.data<float>(), shape, launch.sm_count, launch.stream,
                                  launch.pdl && enable_pdl, static_cast<int>(units_a_walker)));
  });
}

}  // namespace fictl::segment
