// wgmma for fp16.
#pragma once

#include <cuda_fp16.h>

#include <fictl/device/hopper/wgmma/instruction.cuh>

#include <fictl/device/hopper/wgmma/begin.cuh>

namespace fictl::device {

FICTL_WGMMA_EACH_N(FICTL_WGMMA_ANY_MAJOR, __half, "f16")

}  // namespace fictl::device

#include <fictl/device/hopper/wgmma/end.cuh>
