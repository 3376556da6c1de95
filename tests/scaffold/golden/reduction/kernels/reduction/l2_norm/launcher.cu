#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <my_kernels/reduction/l2_norm.cuh>

namespace my_kernels::reduction {

using fictl::Launch;
using fictl::View;

// The bytes of the workspace, for the results of pieces.
int64_t l2_norm_workspace(View x) {
  const int64_t cols = x.size(-1);
  const int64_t pieces = L2NormPieces(cols * x.dtype().bits / 8);
  if (pieces == 1) return 0;
  return x.numel() / cols * pieces * kL2NormStages * sizeof(float);
}

void l2_norm(const Launch& launch, View out, View x, View workspace) {
  DISPATCH_DTYPE(launch, x, T, (__half, __nv_bfloat16, float), {
    L2NormArgs<T> args;
    args.out = out.data<T>();
    args.x = x.data<const T>();
    args.cols = x.size(-1);
    args.rows = out.numel();
    args.x_pitch = ROW_PITCH(launch, x);
    args.results = workspace.data<float>();
    CUDA_CHECK(launch, L2Norm(args, launch.stream, launch.pdl));
  });
}

}  // namespace my_kernels::reduction
