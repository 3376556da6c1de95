#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <fictl/norm/rmsnorm_block_quant.cuh>

namespace fictl::norm {

void fused_add_rmsnorm_fp8_block_quant(const Launch& launch, View out, View block_scale,
                                       const View* normed_out, View input, View residual,
                                       View weight, double eps, bool enable_pdl) {
  const BlockQuantShape shape{
      input.size(0),
      input.size(1),
      ROW_PITCH(launch, input),
      WRITTEN_ROW_PITCH(launch, residual),
      normed_out == nullptr ? 0 : row_pitch(launch.op, "normed_out", *normed_out, /*written=*/true),
      WRITTEN_ROW_PITCH(launch, out),
      WRITTEN_ROW_PITCH(launch, block_scale),
      block_scale.size(1)};
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16), {
    const BlockQuantTensors<T> tensors{
        input.data<const T>(),     residual.data<T>(),
        weight.data<const T>(),    normed_out == nullptr ? nullptr : normed_out->data<T>(),
        out.data<__nv_fp8_e4m3>(), block_scale.data<float>(),
        static_cast<float>(eps)};
    CUDA_CHECK(launch, RMSNormBlockQuant(tensors, shape, launch.stream, launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::norm
