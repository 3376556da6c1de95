#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <my_kernels/scan/prefix_sum.cuh>

namespace my_kernels::scan {

using fictl::Launch;
using fictl::View;

// The bytes of the workspace, for the sums of pieces.
int64_t prefix_sum_workspace(View x) {
  constexpr int64_t kSumBytes = 8;
  const int64_t pieces = PrefixSumPieces(x.size(1) * x.dtype().bits / 8);
  return pieces > 1 ? x.size(0) * pieces * kSumBytes : 0;
}

void prefix_sum(const Launch& launch, View out, View x, View workspace, bool exclusive) {
  DISPATCH_DTYPE(launch, x, T, (__half, __nv_bfloat16, float), {
    PrefixSumArgs<T> args;
    args.out = out.data<T>();
    args.x = x.data<const T>();
    args.rows = x.size(0);
    args.cols = x.size(1);
    args.out_pitch = WRITTEN_ROW_PITCH(launch, out);
    args.x_pitch = ROW_PITCH(launch, x);
    args.exclusive = exclusive;
    args.results = workspace.data<PrefixSumSum<T>>();
    CUDA_CHECK(launch, PrefixSum(args, launch.sm_count, launch.stream, launch.pdl));
  });
}

}  // namespace my_kernels::scan
