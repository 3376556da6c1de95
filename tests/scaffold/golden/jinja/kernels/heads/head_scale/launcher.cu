#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <my_kernels/heads/head_scale.cuh>

#include "config.inc"

namespace my_kernels::heads {

using fictl::Launch;
using fictl::View;

void head_scale(const Launch& launch, View out, View x, View weight, double factor) {
  using Config = HeadScaleConfig;
  using T = Config::T;
  HeadScaleArgs<Config> args;
  args.out = out.data<T>();
  args.x = x.data<const T>();
  args.weight = weight.data<const T>();
  args.factor = static_cast<float>(factor);
  args.rows = x.numel() / Config::kCols;
  args.x_pitch = ROW_PITCH(launch, x);
  args.out_pitch = WRITTEN_ROW_PITCH(launch, out);
  CUDA_CHECK(launch, HeadScale(args, launch.stream, launch.pdl));
}

}  // namespace my_kernels::heads
