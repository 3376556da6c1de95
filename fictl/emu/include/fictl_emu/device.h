// Declarations that nvcc gives device code without any include.
#pragma once

#include <fictl_emu/arithmetic.h>
#include <fictl_emu/atomic.h>
#include <fictl_emu/bits.h>
#include <fictl_emu/half.h>
#include <fictl_emu/memory.h>
#include <fictl_emu/rounding.h>
#include <fictl_emu/simd.h>
#include <fictl_emu/sync.h>
#include <fictl_emu/warp.h>

// A hint to nvcc and clang that g++ does not know.
#if !defined(__clang__)
#define __builtin_assume(condition) static_cast<void>(0)
#endif
