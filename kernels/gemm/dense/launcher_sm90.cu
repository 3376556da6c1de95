#include <binding/gemm_problem.h>

#include <fictl/device/hopper/wgmma/bf16.cuh>
#include <fictl/device/hopper/wgmma/fp16.cuh>
#include <fictl/gemm/dense_sm90.cuh>
#include <fictl/gemm/repack.cuh>

#include "config.inc"

namespace fictl::gemm {

void dense(const Launch& launch, GemmCall call) {
  auto problem = gemm_problem<Config::T, Config::Out>(launch, call);
  const int parts = static_cast<int>(call.parts);
  const bool pdl = launch.pdl && call.enable_pdl;
  const int64_t copies = repack_bytes<Config::kMajorA, Config::kMajorB>(problem);
  check_workspace(launch, call, problem,
                  copies + dense_sm90_workspace<Config::Tile>(problem, parts));
  if (copies > 0) {
    CUDA_CHECK(launch,
               (repack_operands<Config::kMajorA, Config::kMajorB>(problem, launch.stream, pdl)));
  }
  const auto epilogue = dense_epilogue<Config::Epilogue, Config::T, Config::Out>(call);
  CUDA_CHECK(launch,
             (DenseSm90<Config::Tile, Config::kMajorA, Config::kMajorB>(
                 problem, epilogue, parts, static_cast<int>(call.group), launch.stream, pdl)));
}

int64_t dense_workspace(const GemmSizes& sizes) {
  const auto problem = gemm_problem<Config::T, Config::Out>(sizes);
  return repack_bytes<Config::kMajorA, Config::kMajorB>(problem) +
         dense_sm90_workspace<Config::Tile>(problem, static_cast<int>(sizes.parts));
}

}  // namespace fictl::gemm
