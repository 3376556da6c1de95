#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <fictl/norm/layernorm.cuh>

namespace fictl::norm {

namespace {

RowShape shape_of(const Launch& launch, View out, View input) {
  const int64_t hidden = input.size(-1);
  const int64_t rows = hidden == 0 ? 0 : input.numel() / hidden;
  return {rows, hidden, ROW_PITCH(launch, input), WRITTEN_ROW_PITCH(launch, out)};
}

}  // namespace

void layernorm(const Launch& launch, View out, View input, View gemma, View beta, double eps,
               bool enable_pdl) {
  const RowShape shape = shape_of(launch, out, input);
  const LayerNormArgs args{gemma.data<const float>(), beta.data<const float>(), nullptr,
                           static_cast<float>(eps)};
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16, float), {
    CUDA_CHECK(launch, LayerNorm(out.data<T>(), input.data<const T>(), args, shape, launch.stream,
                                 launch.pdl && enable_pdl));
  });
}

void layernorm_quant(const Launch& launch, View out, View input, View gemma, View beta, View scale,
                     double eps, bool enable_pdl) {
  const RowShape shape = shape_of(launch, out, input);
  const LayerNormArgs args{gemma.data<const float>(), beta.data<const float>(),
                           scale.data<const float>(), static_cast<float>(eps)};
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16, float), {
    DISPATCH_DTYPE(launch, out, Out, (__nv_fp8_e4m3, __nv_fp8_e5m2), {
      CUDA_CHECK(launch, LayerNorm(out.data<Out>(), input.data<const T>(), args, shape,
                                   launch.stream, launch.pdl && enable_pdl));
    });
  });
}

}  // namespace fictl::norm
