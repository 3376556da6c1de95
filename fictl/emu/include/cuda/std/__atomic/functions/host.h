// libcu++'s atomics as on a host, but a load lets other threads run: loops wait with it.
#pragma once

#include <fictl_emu/abi.h>

#define __atomic_load(...) (fictl_emu_yield(0, __FILE__, __LINE__), __atomic_load(__VA_ARGS__))
#include_next <cuda/std/__atomic/functions/host.h>
#undef __atomic_load
