#include <binding/attention_problem.h>

#include <fictl/attention/attend.cuh>

#include "config.inc"

namespace fictl::attention {

void attend(const Launch& launch, AttentionCall call) {
  CUDA_CHECK(launch, Attend(attention_problem<Config>(launch, call), launch.stream,
                            launch.pdl && call.enable_pdl));
}

}  // namespace fictl::attention
