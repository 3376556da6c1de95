#include <binding/attention_extents.h>
#include <binding/attention_problem.h>

#include <fictl/attention/sm90/attend.cuh>
#include <fictl/device/hopper/wgmma/bf16.cuh>
#include <fictl/device/hopper/wgmma/fp16.cuh>

#include "config.inc"

namespace fictl::attention {

void attend(const Launch& launch, AttentionCall call) {
  const bool limited = call.most_sms > 0 && call.most_sms < launch.sm_count;
  const int sm_count = limited ? static_cast<int>(call.most_sms) : launch.sm_count;
  CUDA_CHECK(launch,
             AttendSm90(attention_problem<Config>(launch, call), attention_extents<Config>(call),
                        sm_count, launch.stream, launch.pdl && call.enable_pdl));
}

}  // namespace fictl::attention
