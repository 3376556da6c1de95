// The toolkit's cuRAND for device code. For a host one part of it would declare threadIdx anew, so
// that part is included as if for a GPU.
#pragma once

#include <nv/target>

#define __CUDA_ARCH__ 800
#include <curand_mtgp32_kernel.h>
#undef __CUDA_ARCH__

#include_next <curand_kernel.h>
