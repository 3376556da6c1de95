// Defines FICTL_HOPPER where code with Hopper's own instructions may be compiled: for sm_90a, and
// for the emulated device, so that what is tested there is what runs on a GPU.
//
//   __global__ void Kernel(...) {
//   #ifdef FICTL_HOPPER
//     ...
//   #endif
//   }
//
// Why a guard, though modules of these kernels are compiled for sm_90a alone: a user's file may
// hold a kernel of an older architecture beside them.
#pragma once

#if defined(FICTL_EMU) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define FICTL_HOPPER 1
#endif
