#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <fictl/norm/rmsnorm_silu.cuh>

namespace fictl::norm {

namespace {

RowShape shape_of(const Launch& launch, View out, View input) {
  const int64_t hidden = input.size(-1);
  const int64_t rows = hidden == 0 ? 0 : input.numel() / hidden;
  return {rows, hidden, ROW_PITCH(launch, input), WRITTEN_ROW_PITCH(launch, out)};
}

// The output for the scales of e2m1 blocks.
struct BlockScales {
  __nv_fp8_e4m3* scales;
  int64_t pitch;
};

template <typename T, typename Out>
void run(const Launch& launch, View out, View input, View weight, BlockScales to, double eps,
         bool enable_pdl) {
  const RowShape shape = shape_of(launch, out, input);
  const RMSNormSiluArgs<T, Out> args{
      input.data<const T>(),  weight.data<const T>(), out.data<Out>(), to.scales, to.pitch,
      static_cast<float>(eps)};
  CUDA_CHECK(launch, RMSNormSilu(args, shape, launch.stream, launch.pdl && enable_pdl));
}

}  // namespace

void fused_rmsnorm_silu(const Launch& launch, View out, View input, View weight, double eps,
                        bool enable_pdl) {
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16), {
    DISPATCH_DTYPE(launch, out, Out, (T, __nv_fp8_e4m3),
                   { (run<T, Out>(launch, out, input, weight, {}, eps, enable_pdl)); });
  });
}

void fused_rmsnorm_silu_fp4(const Launch& launch, View out, View block_scale, View input,
                            View weight, double eps, bool enable_pdl) {
  const BlockScales to{block_scale.data<__nv_fp8_e4m3>(), WRITTEN_ROW_PITCH(launch, block_scale)};
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16),
                 { (run<T, __nv_fp4x2_e2m1>(launch, out, input, weight, to, eps, enable_pdl)); });
}

}  // namespace fictl::norm
