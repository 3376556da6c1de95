// Shared memory as PTX instructions address it, and dynamic shared memory from an alignment on.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

namespace fictl::device {

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// Dynamic shared memory from T's alignment on: the launch asks for that much more than T takes.
// Why: it begins where the static one ends.
template <typename T>
__device__ T& aligned(unsigned char* dynamic_shared) {
  const uint32_t beyond = shared_address(dynamic_shared) % alignof(T);
  return *reinterpret_cast<T*>(dynamic_shared + (beyond == 0 ? 0 : alignof(T) - beyond));
}

}  // namespace fictl::device
