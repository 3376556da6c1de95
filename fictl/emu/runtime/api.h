// The CUDA runtime API of the emulated device: what launches ask of it.
#pragma once

#include <driver_types.h>

#include <cstddef>

namespace fictl_emu {

cudaError_t set_last_error(cudaError_t error);

// What cudaFuncSetAttribute has allowed for the kernel, or for any where it is not known which.
size_t dynamic_shared_limit(const void* function);

// Whether cudaFuncSetAttribute was called for it, at all: then a block's own variables and dynamic
// memory share what a block may have by opting in, whatever the value was.
bool has_opted_in(const void* function);

}  // namespace fictl_emu
