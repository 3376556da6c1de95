// wgmma for fp8: e4m3 and e5m2, and one of each. The tensor cores keep about 14 bits of a sum: add
// the products of 128 values of K in fp32.
#pragma once

#include <cuda_fp8.h>

#include <fictl/device/hopper/wgmma/instruction.cuh>

#include <fictl/device/hopper/wgmma/begin.cuh>

namespace fictl::device {

FICTL_WGMMA_EACH_N(FICTL_WGMMA_K_MAJOR, __nv_fp8_e4m3, __nv_fp8_e4m3, "e4m3.e4m3", "32")
FICTL_WGMMA_EACH_N(FICTL_WGMMA_K_MAJOR, __nv_fp8_e5m2, __nv_fp8_e5m2, "e5m2.e5m2", "32")
FICTL_WGMMA_EACH_N(FICTL_WGMMA_K_MAJOR, __nv_fp8_e4m3, __nv_fp8_e5m2, "e4m3.e5m2", "32")
FICTL_WGMMA_EACH_N(FICTL_WGMMA_K_MAJOR, __nv_fp8_e5m2, __nv_fp8_e4m3, "e5m2.e4m3", "32")

}  // namespace fictl::device

#include <fictl/device/hopper/wgmma/end.cuh>
