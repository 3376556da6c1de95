#include "control.h"

#include <cstdio>
#include <cstdlib>

#include "scheduler.h"

namespace fictl_emu {

FictlEmuConfig config = {FICTL_EMU_FORWARD, 0, 1, 1, 0, 4, 8, 9, 2000, 60000, 0};

}  // namespace fictl_emu

extern "C" {

__thread uint3 threadIdx __asm__("fictl_emu_threadIdx") FICTL_EMU_TLS = {0, 0, 0};
__thread uint3 blockIdx __asm__("fictl_emu_blockIdx") FICTL_EMU_TLS = {0, 0, 0};
__thread dim3 blockDim __asm__("fictl_emu_blockDim") FICTL_EMU_TLS = {1, 1, 1};
__thread dim3 gridDim __asm__("fictl_emu_gridDim") FICTL_EMU_TLS = {1, 1, 1};
__thread FictlEmuRegisters fictl_emu_registers FICTL_EMU_TLS = {0, 0};

void fictl_emu_configure(const FictlEmuConfig* wanted) { fictl_emu::config = *wanted; }

int fictl_emu_abi() { return 1; }

void fictl_emu_assert_fail(const char* expression, const char* file, unsigned line,
                           const char* function) {
  if (fictl_emu::team != nullptr) {
    fictl_emu_stop("assert", expression, file, static_cast<int>(line));
  }
  // Host code: as the C library does it.
  fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
  abort();
}
}
