#include <binding/launch.h>

#include <fictl/gemm/router.cuh>

namespace fictl::gemm {

void router(const Launch& launch, View out, View a, View b, const View* bias, bool enable_pdl) {
  using T = __nv_bfloat16;
  DISPATCH_DTYPE(launch, out, Out, (float, __nv_bfloat16), {
    RouterProblem<Out> problem = {};
    problem.a = a.data<const T>();
    problem.b = b.data<const T>();
    problem.bias = bias == nullptr ? nullptr : bias->data<const T>();
    problem.out = out.data<Out>();
    problem.m = static_cast<int>(a.size(0));
    problem.n = static_cast<int>(b.size(0));
    problem.k = static_cast<int>(a.size(1));
    problem.a_row = a.stride(0);
    problem.b_row = b.stride(0);
    problem.out_row = out.stride(0);
    CUDA_CHECK(launch, Router(problem, launch.sm_count, launch.stream, launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::gemm
