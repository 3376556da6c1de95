// wgmma for tf32: fp32 in memory, of which the tensor cores read 19 bits.
#pragma once

#include <fictl/device/hopper/wgmma/instruction.cuh>

#include <fictl/device/hopper/wgmma/begin.cuh>

namespace fictl::device {

FICTL_WGMMA_EACH_N(FICTL_WGMMA_K_MAJOR, float, float, "tf32.tf32", "8")

}  // namespace fictl::device

#include <fictl/device/hopper/wgmma/end.cuh>
