#include <binding/launch.h>

#include <fictl/norm/rmsnorm.cuh>

namespace fictl::norm {

namespace {

// Why not always the strides: that of a dimension of size 1 may be anything.
RMSNormPitch pitch_of(View x) {
  const int64_t group = x.ndim() == 3 && x.size(0) > 1 ? x.stride(0) : 0;
  return {x.size(-2) > 1 ? x.stride(-2) : group, group};
}

// Tells whether all rows have one stride, across the groups too.
bool at_one_pitch(View x) {
  const RMSNormPitch pitch = pitch_of(x);
  return x.ndim() == 2 || x.size(0) == 1 || pitch.group == x.size(1) * pitch.row;
}

RMSNormShape shape_of(View out, View input, View residual) {
  const int64_t rows = input.size(-2) * (input.ndim() == 3 ? input.size(0) : 1);
  const bool one_group = at_one_pitch(out) && at_one_pitch(input) && at_one_pitch(residual);
  const int64_t rows_per_group = one_group ? rows : input.size(-2);
  return {static_cast<unsigned>(rows),
          input.size(-1),
          static_cast<unsigned>(rows_per_group),
          pitch_of(input),
          pitch_of(out),
          pitch_of(residual)};
}

template <typename T, typename Out>
RMSNormTensors<T, Out> tensors_of(View out, View input, View weight, double eps) {
  RMSNormTensors<T, Out> tensors{input.data<const T>(), weight.data<const T>(), out.data<Out>()};
  tensors.eps = static_cast<float>(eps);
  return tensors;
}

template <typename T>
void quantize(const Launch& launch, View out, View scale, RMSNormTensors<T, Fp8>& tensors) {
  tensors.scale = scale.data<const float>();
  DISPATCH_DTYPE(launch, out, Out, (__nv_fp8_e4m3, __nv_fp8_e5m2),
                 { tensors.e5m2 = has_dtype<__nv_fp8_e5m2>(out); });
}

}  // namespace

void rmsnorm(const Launch& launch, View out, View input, View weight, double eps,
             double weight_bias, bool enable_pdl) {
  const RMSNormShape shape = shape_of(out, input, input);
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16, float), {
    auto tensors = tensors_of<T, T>(out, input, weight, eps);
    tensors.weight_bias = static_cast<float>(weight_bias);
    CUDA_CHECK(launch, RMSNorm(tensors, shape, launch.stream, launch.pdl && enable_pdl));
  });
}

void fused_add_rmsnorm(const Launch& launch, View input, View residual, View weight, double eps,
                       double weight_bias, bool enable_pdl) {
  const RMSNormShape shape = shape_of(input, input, residual);
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16, float), {
    auto tensors = tensors_of<T, T>(input, input, weight, eps);
    tensors.residual = residual.data<T>();
    tensors.weight_bias = static_cast<float>(weight_bias);
    CUDA_CHECK(launch, RMSNorm(tensors, shape, launch.stream, launch.pdl && enable_pdl));
  });
}

void rmsnorm_quant(const Launch& launch, View out, View input, View weight, View scale, double eps,
                   bool enable_pdl) {
  const RMSNormShape shape = shape_of(out, input, input);
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16), {
    auto tensors = tensors_of<T, Fp8>(out, input, weight, eps);
    quantize(launch, out, scale, tensors);
    CUDA_CHECK(launch, RMSNorm(tensors, shape, launch.stream, launch.pdl && enable_pdl));
  });
}

void fused_add_rmsnorm_quant(const Launch& launch, View out, View input, View residual, View weight,
                             View scale, double eps, bool enable_pdl) {
  const RMSNormShape shape = shape_of(out, input, residual);
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16), {
    auto tensors = tensors_of<T, Fp8>(out, input, weight, eps);
    tensors.residual = residual.data<T>();
    quantize(launch, out, scale, tensors);
    CUDA_CHECK(launch, RMSNorm(tensors, shape, launch.stream, launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::norm
