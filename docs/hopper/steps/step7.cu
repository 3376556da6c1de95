// Step 7: ping-pong, the shipped kernel. Two warpgroups have a tile of 128 x 128 each and take
// turns: one stores, or runs its epilogue, while the other one has the tensor cores to itself.
//
// Its header, <fictl/gemm/dense_sm90.cuh>, has what the steps before leave out: any size, batches,
// both majors, epilogues, tiles that are divided along K.
#include <fictl/gemm/dense_sm90.cuh>

#include "step.cuh"

extern "C" cudaError_t hopper_step7(const void* a, const void* b, void* d, int m, int n, int k,
                                    cudaStream_t stream) {
  using namespace fictl::gemm;
  using hopper_steps::T;
  using Pair = Tile<128, 128, Schedule::kPingPong, /*kClusterX=*/2>;
  using NoEpilogue = DenseEpilogue<T, T, Pointwise<fictl::activation::Identity>, /*kHasBias=*/false,
                                   /*kHasC=*/false>;
  constexpr auto kAlongK = fictl::device::Major::kK;

  GemmProblem<T, T> problem = {};
  problem.a = static_cast<const T*>(a);
  problem.b = static_cast<const T*>(b);
  problem.d = static_cast<T*>(d);
  problem.batch = 1;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.a_row = problem.b_row = k;
  problem.a_k = problem.b_k = 1;
  problem.d_row = n;
  problem.sm_count = hopper_steps::sm_count();
  NoEpilogue epilogue = {};
  epilogue.alpha = 1.0f;
  epilogue.n = n;
  return DenseSm90<Pair, kAlongK, kAlongK>(problem, epilogue, /*parts=*/1, /*group=*/16, stream);
}
