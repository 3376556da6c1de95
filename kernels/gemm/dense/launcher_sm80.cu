#include <binding/gemm_problem.h>

#include <fictl/gemm/dense_sm80.cuh>

#include "config.inc"

namespace fictl::gemm {

void dense(const Launch& launch, GemmCall call) {
  const auto problem = gemm_problem<Config::T, Config::Out>(launch, call);
  const int parts = static_cast<int>(call.parts);
  check_workspace(launch, call, problem, dense_sm80_workspace<Config>(problem, parts));
  const auto epilogue = dense_epilogue<Config::Epilogue, Config::T, Config::Out>(call);
  CUDA_CHECK(launch, DenseSm80<Config>(problem, epilogue, parts, launch.stream,
                                       launch.pdl && call.enable_pdl));
}

int64_t dense_workspace(const GemmSizes& sizes) {
  return dense_sm80_workspace<Config>(gemm_problem<Config::T, Config::Out>(sizes),
                                      static_cast<int>(sizes.parts));
}

}  // namespace fictl::gemm
