#include <binding/launch.h>

#include <fictl/norm/qk_rmsnorm_rope.cuh>

namespace fictl::norm {

namespace {

template <typename Out>
QKRopeOutput<Out> output_of(View q_out, View k_out, View v_out) {
  return {{q_out.data<Out>(), k_out.data<Out>(), v_out.data<Out>()}};
}

}  // namespace

void fused_qk_rmsnorm_rope(const Launch& launch, View q_out, View k_out, View v_out, View qkv,
                           View q_weight, View k_weight, const QKRopeShape& shape,
                           const QKRopeAngles& angles, const QKRopeNorm& norm, bool enable_pdl) {
  DISPATCH_DTYPE(launch, qkv, T, (__half, __nv_bfloat16), {
    const QKRopeInput<T> input{qkv.data<const T>(), q_weight.data<const T>(),
                               k_weight.data<const T>()};
    const auto run = [&](auto output) {
      return QKRMSNormRope(input, output, shape, angles, norm, launch.stream,
                           launch.pdl && enable_pdl);
    };
    CUDA_CHECK(launch, has_dtype<T>(q_out) ? run(output_of<T>(q_out, k_out, v_out))
                                           : run(output_of<__nv_fp8_e4m3>(q_out, k_out, v_out)));
  });
}

}  // namespace fictl::norm
