// linear on Hopper: bulk copies and wgmma.
#include <binding/gemm_problem.h>

#include <fictl/device/hopper/wgmma/bf16.cuh>
#include <fictl/device/hopper/wgmma/fp16.cuh>
#include <fictl/gemm/dense_sm90.cuh>
#include <my_kernels/gemm/linear.cuh>

#include "config.inc"

namespace my_kernels::gemm {

namespace {

namespace dense = fictl::gemm;

// Two warpgroups share 128 x 256 of out. With an epilogue that computes much, Tile<128, 128,
// Schedule::kPingPong, 2> is faster: a warpgroup multiplies while the other one stores.
using Large = dense::Tile<128, 256, dense::Schedule::kCooperative>;
// Up to 64 rows of a, as in a decode step: the operands are exchanged, so that the 64 rows of an
// instruction are b's.
using Few = dense::Tile<64, 64, dense::Schedule::kPingPong, 1, 1, true, 2>;

template <typename Tile>
cudaError_t run(const dense::GemmProblem<DType, DType>& problem, const fictl::Launch& launch) {
  constexpr auto kMajor = dense::Major::kK;  // rows of both operands run along k
  constexpr int kParts = 1;                  // of k, each by its own blocks: more need a workspace
  constexpr int kGroup = 16;                 // rows of tiles that run together and share reads
  return dense::DenseSm90<Tile, kMajor, kMajor>(problem, LinearEpilogue(), kParts, kGroup,
                                                launch.stream, launch.pdl);
}

}  // namespace

void linear(const fictl::Launch& launch, fictl::GemmCall call) {
  const auto problem = fictl::gemm_problem<DType, DType>(launch, call);
  const bool few = problem.m <= Few::kY;
  CUDA_CHECK(launch, few ? run<Few>(problem, launch) : run<Large>(problem, launch));
}

}  // namespace my_kernels::gemm
