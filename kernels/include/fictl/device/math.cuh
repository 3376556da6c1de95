// Small integer arithmetic for host and device.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

namespace fictl::device {

__host__ __device__ constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The smallest power of two not below `wanted`, from `least` to `most`, which are powers of two.
__host__ __device__ constexpr int power_of_two(int64_t wanted, int least, int most) {
  int found = least;
  while (found < wanted && found < most) found *= 2;
  return found;
}

}  // namespace fictl::device
