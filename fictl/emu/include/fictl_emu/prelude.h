// Included before every line of a kernel's source (-include): the CUDA runtime's own headers for
// types and declarations, then what nvcc would bring along.
#pragma once

#include <fictl_emu/api_names.h>
#include <fictl_emu/glibc_names.h>

#include <cuda_runtime.h>

#include <fictl_emu/abi.h>
#include <fictl_emu/device.h>
#include <fictl_emu/launch.h>
#include <fictl_emu/ptx/ptx.h>
#include <fictl_emu/qualifiers.h>
#include <fictl_emu/shared.h>
