#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <fictl/activation/act_and_mul.cuh>

namespace fictl::activation {

namespace {

template <typename Activation>
void act_and_mul(const Launch& launch, View out, View input, bool enable_pdl) {
  const int64_t hidden = out.size(-1);
  const int64_t rows = hidden == 0 ? 0 : out.numel() / hidden;
  const ActAndMulShape shape{rows, hidden, ROW_PITCH(launch, input),
                             WRITTEN_ROW_PITCH(launch, out)};
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16, float), {
    CUDA_CHECK(launch, (ActAndMul<Activation>(input.data<const T>(), out.data<T>(), shape,
                                              launch.stream, launch.pdl && enable_pdl)));
  });
}

}  // namespace

void silu_and_mul(const Launch& launch, View out, View input, bool enable_pdl) {
  act_and_mul<Silu>(launch, out, input, enable_pdl);
}

void gelu_and_mul(const Launch& launch, View out, View input, bool enable_pdl) {
  act_and_mul<Gelu>(launch, out, input, enable_pdl);
}

void gelu_tanh_and_mul(const Launch& launch, View out, View input, bool enable_pdl) {
  act_and_mul<GeluTanh>(launch, out, input, enable_pdl);
}

}  // namespace fictl::activation
