// Barriers of some of a block's warps: 15 of them beside __syncthreads(), which is number 0.
//
//   sync     waits until `threads` threads have come, and counts as one of them
//   arrive   counts, and goes on: a signal
//
// Both count whole warps: never call them under a condition on the lane. One enum should number all
// barriers of a kernel. A number is free again when all of its threads have come.
#pragma once

#include <cuda_runtime.h>

namespace fictl::device {

struct NamedBarrier {
  int id;
  int threads;

  __device__ void sync() const {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
  }
  __device__ void arrive() const {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
  }
};

}  // namespace fictl::device
