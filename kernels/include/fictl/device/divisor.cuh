// Division by a number known on the host: a multiplication and a shift, where a general division
// takes some twenty instructions.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

namespace fictl::device {

// Divides numbers from 0 to 2^31 - 1 by a divisor from 1 to 2^31 - 1.
class Divisor {
 public:
  struct Result {
    int quotient;
    int remainder;
  };

  // With `extra` the bits of divisor - 1, factor is 2^(31 + extra) / divisor, rounded up. What that
  // adds to a quotient is below 2^31 / 2^(31 + extra), and so less than 1 / divisor.
  explicit Divisor(int divisor) : divisor_(divisor) {
    while (shift_ < 62 && (int64_t{1} << (shift_ - 31)) < divisor) ++shift_;
    factor_ = static_cast<uint32_t>(((uint64_t{1} << shift_) + divisor - 1) / divisor);
  }

  __host__ __device__ int divisor() const { return divisor_; }

  __host__ __device__ Result divide(int number) const {
    const uint64_t product = static_cast<uint64_t>(static_cast<uint32_t>(number)) * factor_;
    const int quotient = static_cast<int>(product >> shift_);
    return {quotient, number - quotient * divisor_};
  }

 private:
  int divisor_;
  int shift_ = 31;
  uint32_t factor_;
};

}  // namespace fictl::device
