// The CUDA runtime API of the emulated device: what launches ask of it.
#pragma once

#include <driver_types.h>

#include <cstddef>

namespace fictl_emu {

cudaError_t set_last_error(cudaError_t error);

// The limit that cudaFuncSetAttribute has set for the kernel; for an unknown kernel, the largest.
size_t dynamic_shared_limit(const void* function);

// True if cudaFuncSetAttribute was called for the kernel: then a block's own variables and dynamic
// memory share the opt-in limit, whatever the value was.
bool has_opted_in(const void* function);

// True if cudaFuncSetAttribute has allowed it clusters of more than 8 blocks.
bool allows_large_clusters(const void* function);

}  // namespace fictl_emu
