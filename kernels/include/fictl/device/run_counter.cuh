// Counts in bins that threads share, in shared or global memory.
#pragma once

#include <cuda_runtime.h>

namespace fictl::device {

// Adjacent values of a thread that are of one bin are added together. Why: where all values are
// equal, the threads would have to wait for one another, value by value.
class RunCounter {
 public:
  __device__ explicit RunCounter(int* bins) : bins_(bins) {}

  __device__ void add(int bin) {
    if (bin != bin_) {
      flush();
      bin_ = bin;
      count_ = 0;
    }
    ++count_;
  }

  // Called once, after the last value.
  __device__ void flush() {
    if (count_ > 0) atomicAdd(bins_ + bin_, count_);
  }

 private:
  int* bins_;
  int bin_ = -1;
  int count_ = 0;
};

}  // namespace fictl::device
