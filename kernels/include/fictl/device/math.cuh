// Small integer arithmetic for host and device.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

namespace fictl::device {

__host__ __device__ constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace fictl::device
