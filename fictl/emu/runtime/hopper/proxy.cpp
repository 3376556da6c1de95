// Fences between the accesses of threads and those of asynchronous operations. Memory is coherent
// here: they are events of check mode.
#include "checker.h"
#include "scheduler.h"

extern "C" void fictl_emu_proxy_fence(int kind) {
  if (fictl_emu::team != nullptr) fictl_emu::check::proxy_fence(*fictl_emu::current(), kind);
}
