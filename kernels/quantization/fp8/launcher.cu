#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <fictl/quantization/fp8.cuh>

namespace fictl::quantization {

namespace {

// Rows of groups; of other than two dimensions they are contiguous.
GroupQuantShape shape_of(const Launch& launch, View x, View out, View scales, int64_t group_size) {
  const int64_t hidden = x.size(-1);
  const bool matrix = scales.ndim() == 2;
  return {hidden == 0 ? 0 : x.numel() / hidden,
          hidden,
          group_size,
          ROW_PITCH(launch, x),
          WRITTEN_ROW_PITCH(launch, out),
          matrix ? scales.stride(0) : hidden / group_size,
          matrix ? scales.stride(1) : 1};
}

}  // namespace

void per_token_group_quant_8bit(const Launch& launch, View out, View scales, View x,
                                int64_t group_size, double eps, bool power_of_two,
                                bool enable_pdl) {
  const GroupQuantShape shape = shape_of(launch, x, out, scales, group_size);
  const GroupQuantScale wanted{static_cast<float>(eps), power_of_two};
  DISPATCH_DTYPE(launch, x, T, (__half, __nv_bfloat16, float), {
    DISPATCH_DTYPE(launch, out, Q, (__nv_fp8_e4m3, __nv_fp8_e5m2, int8_t), {
      CUDA_CHECK(launch, GroupQuant(x.data<const T>(), out.data<Q>(), scales.data<float>(), wanted,
                                    shape, launch.stream, launch.pdl && enable_pdl));
    });
  });
}

int64_t per_tensor_quant_fp8_workspace() { return kLargestBlocks; }

void per_tensor_quant_fp8(const Launch& launch, View out, View out_scale, View x, const View* scale,
                          View workspace, bool enable_pdl) {
  const float* fixed = scale == nullptr ? nullptr : scale->data<const float>();
  float* computed = out_scale.data<float>() == fixed ? nullptr : out_scale.data<float>();
  DISPATCH_DTYPE(launch, x, T, (__half, __nv_bfloat16, float), {
    DISPATCH_DTYPE(launch, out, Q, (__nv_fp8_e4m3, __nv_fp8_e5m2), {
      CUDA_CHECK(launch, TensorQuant(x.data<const T>(), out.data<Q>(), fixed, computed,
                                     workspace.data<float>(), x.numel(), launch.sm_count,
                                     launch.stream, launch.pdl && enable_pdl));
    });
  });
}

}  // namespace fictl::quantization
