// Division as Python has it: the quotient is rounded down, the remainder has the divisor's sign.
// Division by 0, which is an error in Python, gives an unspecified value.
#pragma once

#include <limits.h>
#include <math.h>

#include <cuda_runtime.h>

#include <fictl/device/divisor.cuh>

namespace fictl::device {

__host__ __device__ inline int floor_divide(int a, int b) {
  // Why apart: the CPU faults on both, and a product is right for -1.
  if (b == 0 || b == -1) return a * b;
  const int quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

__host__ __device__ inline int floor_modulo(int a, int b) {
  if (b == 0 || b == -1) return 0;
  const int remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

// Computed from the remainder, which is exact: a rounded quotient may be the next whole number.
__host__ __device__ inline float floor_modulo(float a, float b) {
  const float remainder = fmodf(a, b);
  return remainder != 0.0f && (remainder < 0.0f) != (b < 0.0f) ? remainder + b : remainder;
}

__host__ __device__ inline float floor_divide(float a, float b) {
  return rintf((a - floor_modulo(a, b)) / b);
}

// Integer division by a number known on the host: a third of the instructions.
class FloorDivisor {
 public:
  explicit FloorDivisor(int divisor = 1)
      : by_(divisor > 0          ? divisor
            : divisor < -INT_MAX ? INT_MAX
            : divisor < 0        ? -divisor
                                 : 1),
        divisor_(divisor) {}

  __host__ __device__ int quotient(int a) const {
    if (divisor_ < 0) a = -a;
    // A negative a has the inverted quotient of ~a: -1 to -b behave as 0 to b - 1.
    const int sign = a >> 31;
    return by_.divide(a ^ sign).quotient ^ sign;
  }

  __host__ __device__ int remainder(int a) const { return a - quotient(a) * divisor_; }

 private:
  Divisor by_;
  int divisor_;
};

}  // namespace fictl::device
