#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <my_kernels/norm/rms_norm.cuh>

namespace my_kernels::norm {

using fictl::Launch;
using fictl::View;

void rms_norm(const Launch& launch, View out, View x, View weight, double eps) {
  DISPATCH_DTYPE(launch, x, T, (__half, __nv_bfloat16, float), {
    RmsNormArgs<T> args;
    args.out = out.data<T>();
    args.x = x.data<const T>();
    args.weight = weight.data<const T>();
    args.eps = static_cast<float>(eps);
    args.cols = x.size(-1);
    args.rows = args.cols == 0 ? 0 : x.numel() / args.cols;
    args.x_pitch = ROW_PITCH(launch, x);
    args.out_pitch = WRITTEN_ROW_PITCH(launch, out);
    CUDA_CHECK(launch, RmsNorm(args, launch.stream, launch.pdl));
  });
}

}  // namespace my_kernels::norm
