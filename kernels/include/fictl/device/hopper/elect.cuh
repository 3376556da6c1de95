// One lane of a warp, the same one each time: the one that asks for bulk copies.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

namespace fictl::device {

// All lanes of the warp call. Why not lane == 0: the compiler knows that one lane alone goes on,
// and keeps addresses in uniform registers.
__device__ inline bool elect_lane() {
  uint32_t is_it;
  asm volatile(
      "{\n"
      ".reg .pred elected;\n"
      "elect.sync _|elected, 0xFFFFFFFF;\n"
      "selp.b32 %0, 1, 0, elected;\n"
      "}"
      : "=r"(is_it));
  return is_it != 0;
}

}  // namespace fictl::device
