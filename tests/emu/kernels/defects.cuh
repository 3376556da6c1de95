// What the fixtures of defects share: one C function for each kernel and its correct twin.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Defines `int name(bug, x, y, flags, n)`, which launches name_kernel<true> or <false>.
#define DEFECT(name, grid, block, shared)                                     \
  extern "C" int name(int bug, const float* x, float* y, int* flags, int n) { \
    if (bug) {                                                                \
      name##_kernel<true><<<grid, block, shared>>>(x, y, flags, n);           \
    } else {                                                                  \
      name##_kernel<false><<<grid, block, shared>>>(x, y, flags, n);          \
    }                                                                         \
    const cudaError_t launched = cudaGetLastError();                          \
    return launched != cudaSuccess ? launched : cudaDeviceSynchronize();      \
  }

#define KERNEL(name)  \
  template <bool BUG> \
  __global__ void name##_kernel(const float* x, float* y, int* flags, int n)

namespace ptx {

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ inline void copy_async(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
               : "memory");
}

__device__ inline void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int PENDING>
__device__ inline void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

__device__ inline void barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__device__ inline void barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

}  // namespace ptx
