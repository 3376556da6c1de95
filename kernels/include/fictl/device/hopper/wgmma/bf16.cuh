// wgmma for bf16.
#pragma once

#include <cuda_bf16.h>

#include <fictl/device/hopper/wgmma/instruction.cuh>

#include <fictl/device/hopper/wgmma/begin.cuh>

namespace fictl::device {

FICTL_WGMMA_EACH_N(FICTL_WGMMA_ANY_MAJOR, __nv_bfloat16, "bf16")

}  // namespace fictl::device

#include <fictl/device/hopper/wgmma/end.cuh>
