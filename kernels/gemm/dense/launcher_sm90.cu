#include <binding/gemm_problem.h>

#include <fictl/gemm/dense_sm90.cuh>
#include <fictl/gemm/repack.cuh>

#include "config.inc"

namespace fictl::gemm {

namespace {

constexpr Schedule kSchedule = Config::kPingPong ? Schedule::kPingPong : Schedule::kCooperative;

using DenseTile = Tile<Config::kTileM, Config::kTileN, kSchedule, Config::kCluster, 1,
                       Config::kSwap, Config::kPanelsK>;

}  // namespace

void dense(const Launch& launch, GemmCall call) {
  auto problem = gemm_problem<Config::T, Config::Out>(launch, call);
  const int parts = static_cast<int>(call.parts);
  const bool pdl = launch.pdl && call.enable_pdl;
  const int64_t copies = repack_bytes<Config::kMajorA, Config::kMajorB>(problem);
  check_workspace(launch, call, problem, copies + dense_sm90_workspace<DenseTile>(problem, parts));
  if (copies > 0) {
    CUDA_CHECK(launch,
               (repack_operands<Config::kMajorA, Config::kMajorB>(problem, launch.stream, pdl)));
  }
  const auto epilogue = dense_epilogue<Config::Epilogue, Config::T, Config::Out>(call);
  CUDA_CHECK(launch, (DenseSm90<DenseTile, Config::kMajorA, Config::kMajorB>(
                         problem, epilogue, parts, launch.stream, pdl)));
}

int64_t dense_workspace(const GemmSizes& sizes) {
  const auto problem = gemm_problem<Config::T, Config::Out>(sizes);
  return repack_bytes<Config::kMajorA, Config::kMajorB>(problem) +
         dense_sm90_workspace<DenseTile>(problem, static_cast<int>(sizes.parts));
}

}  // namespace fictl::gemm
