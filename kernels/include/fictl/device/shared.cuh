// Converts a pointer into shared memory to the address that PTX instructions take.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

namespace fictl::device {

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

}  // namespace fictl::device
