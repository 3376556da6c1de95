// {{ name }} on mma.sync, for GPUs from sm_80 on.
#include <binding/gemm_problem.h>

{% set headers = ["<fictl/gemm/dense_sm80.cuh>", "<" ~ project ~ "/" ~ family ~ "/" ~ name ~ ".cuh>"] %}
{% for header in headers | sort %}
#include {{ header }}
{% endfor %}

#include "config.inc"

namespace {{ project }}::{{ family }} {

namespace {

namespace dense = fictl::gemm;

// The tile of {{ outputs[0].name }} that a block computes.
template <int kM, int kN>
struct Tile {
  using T = DType;
  using Out = DType;
  using Epilogue = {{ title }}Epilogue;
  static constexpr dense::Major kMajorA = dense::Major::kK;
  static constexpr dense::Major kMajorB = dense::Major::kK;
  static constexpr int kTileM = kM;
  static constexpr int kTileN = kN;
};

using Large = Tile<128, 128>;
using Medium = Tile<64, 64>;
using Few = Tile<16, 64>;  // up to 16 rows, as in a decode step

using Problem = dense::GemmProblem<DType, DType>;

template <typename Tile>
cudaError_t run(const Problem& problem, const fictl::Launch& launch) {
  constexpr int kParts = 1;  // of k, each by its own blocks: more need a workspace
{{ cpp("  return dense::DenseSm80<Tile>(", ["problem", title ~ "Epilogue()", "kParts", "launch.stream", "launch.pdl"], ");") }}
}

// Tells whether there is a large tile for every SM.
bool fills(const Problem& problem) {
  using fictl::device::ceil_div;
  return ceil_div(problem.m, Large::kTileM) * ceil_div(problem.n, Large::kTileN) >=
         problem.sm_count;
}

}  // namespace

void {{ name }}(const fictl::Launch& launch, fictl::GemmCall call) {
  const auto problem = fictl::gemm_problem<DType, DType>(launch, call);
  if (problem.m <= Few::kTileM) {
    CUDA_CHECK(launch, run<Few>(problem, launch));
  } else if (fills(problem)) {
    CUDA_CHECK(launch, run<Large>(problem, launch));
  } else {
    CUDA_CHECK(launch, run<Medium>(problem, launch));
  }
}

}  // namespace {{ project }}::{{ family }}
