// How kernels are run: what Python sets before a launch.
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)
extern "C" {

enum FictlEmuOrder { FICTL_EMU_FORWARD, FICTL_EMU_REVERSE, FICTL_EMU_RANDOM };

// fictl/emu/device.py has the same fields in the same order.
struct FictlEmuConfig {
  int32_t order;
  int32_t early_copies;  // cp.async lands when it is issued, not when it is waited for
  uint64_t seed;
  int32_t check;    // check-mode modules are checked
  int32_t threads;  // of the operating system; 0: as many as it has cores
  int32_t sm_count;
  int32_t major, minor;  // the compute capability that is shown
  int32_t patience_ms;   // how long threads may spin without progress
  int32_t timeout_ms;    // how long one block may take; 0: for ever
  int32_t strict;        // check mode reports what manuals ask for and GPUs do without, too
};

void fictl_emu_configure(const FictlEmuConfig* config);
}
#pragma GCC visibility pop

namespace fictl_emu {

extern FictlEmuConfig config;

constexpr int kSharedPerBlock = 48 << 10;
constexpr int kSharedOptIn = 227 << 10;
constexpr int kSharedPerSm = 228 << 10;

}  // namespace fictl_emu
