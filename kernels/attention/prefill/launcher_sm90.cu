#include <binding/attention_extents.h>
#include <binding/attention_problem.h>

#include <fictl/attention/sm90/attend.cuh>
#include <fictl/device/hopper/wgmma/bf16.cuh>
#include <fictl/device/hopper/wgmma/fp16.cuh>

#include "config.inc"

namespace fictl::attention {

void attend(const Launch& launch, AttentionCall call) {
  CUDA_CHECK(launch,
             AttendSm90(attention_problem<Config>(launch, call), attention_extents<Config>(call),
                        launch.sm_count, launch.stream, launch.pdl && call.enable_pdl));
}

}  // namespace fictl::attention
