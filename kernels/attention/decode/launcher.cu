#include <binding/attention_problem.h>

#include <fictl/attention/decode_fma.cuh>
#include <fictl/attention/merge.cuh>

#include "config.inc"

namespace fictl::attention {

void attend(const Launch& launch, AttentionCall call) {
  const Problem<Config> problem = attention_problem<Config>(launch, call);
  if (problem.group.divisor() != Config::kRows) {
    throw argument_error(ErrorKind::ValueError, launch.op, "q")
        << "has " << problem.group.divisor()
        << " heads to a head of keys; this module is built for " << Config::kRows;
  }
  const bool pdl = launch.pdl && call.enable_pdl;
  CUDA_CHECK(launch, DecodeFma(problem, launch.stream, pdl));
  CUDA_CHECK(launch, MergeParts(problem, launch.stream, pdl));
}

}  // namespace fictl::attention
