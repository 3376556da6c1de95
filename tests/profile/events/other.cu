// A second translation unit of the same module.
#include <fictl/device/profiler.cuh>

#include <cuda_runtime.h>

namespace {

__global__ void Other() {
  FICTL_KERNEL("other");
  FICTL_EVENT("there");
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void other(int blocks) {
  Other<<<blocks, 32>>>();
}
