// {{ name }} on Hopper: bulk copies and wgmma.
#include <binding/gemm_problem.h>

{% set headers = ["<fictl/device/hopper/wgmma/bf16.cuh>", "<fictl/device/hopper/wgmma/fp16.cuh>", "<fictl/gemm/dense_sm90.cuh>", "<" ~ project ~ "/" ~ family ~ "/" ~ name ~ ".cuh>"] %}
{% for header in headers | sort %}
#include {{ header }}
{% endfor %}

#include "config.inc"

namespace {{ project }}::{{ family }} {

namespace {

namespace dense = fictl::gemm;

// Two warpgroups share 128 x 256 of {{ outputs[0].name }}. With an epilogue that computes much, Tile<128, 128,
// Schedule::kPingPong, 2> is faster: a warpgroup multiplies while the other one stores.
using Large = dense::Tile<128, 256, dense::Schedule::kCooperative>;
// Up to 64 rows of {{ inputs[0].name }}, as in a decode step: the operands are exchanged, so that the 64 rows of an
// instruction are {{ inputs[1].name }}'s.
using Few = dense::Tile<64, 64, dense::Schedule::kPingPong, 1, 1, true, 2>;

template <typename Tile>
{{ cpp("cudaError_t run(", ["const dense::GemmProblem<DType, DType>& problem", "const fictl::Launch& launch"], ") {") }}
  constexpr auto kMajor = dense::Major::kK;  // rows of both operands run along k
  constexpr int kParts = 1;                  // of k, each by its own blocks: more need a workspace
  constexpr int kGroup = 16;                 // rows of tiles that run together and share reads
{{ cpp("  return dense::DenseSm90<Tile, kMajor, kMajor>(", ["problem", title ~ "Epilogue()", "kParts", "kGroup", "launch.stream", "launch.pdl"], ");") }}
}

}  // namespace

void {{ name }}(const fictl::Launch& launch, fictl::GemmCall call) {
  const auto problem = fictl::gemm_problem<DType, DType>(launch, call);
  const bool few = problem.m <= Few::kY;
  CUDA_CHECK(launch, few ? run<Few>(problem, launch) : run<Large>(problem, launch));
}

}  // namespace {{ project }}::{{ family }}
