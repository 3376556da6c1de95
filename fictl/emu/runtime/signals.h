// Faults of kernels become reports: the kernel is stopped and the process lives on. Signals outside
// of kernels go where they went before.
#pragma once

#include <signal.h>

#include <array>

#include "state.h"

namespace fictl_emu {

// The stack on which faults of one thread of the operating system are handled: its fiber's stack
// may be full.
using SignalStack = std::array<char, 64 << 10>;

// While one of the operating system's threads runs a team.
class SignalScope {
 public:
  SignalScope(Team& team, SignalStack& memory, const Launch& launch);
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

 private:
  stack_t previous_stack_;
};

// Interrupts the workers whose running thread is still that of the last call, so that the others of
// its team get their turn: for kernels that spin on plain memory.
void interrupt_stuck_workers();

}  // namespace fictl_emu
