// Reports of kernels that get no further: which threads wait where, and for what.
#pragma once

#include "state.h"

namespace fictl_emu {

// All wait for one another.
void report_deadlock(const Team& team);
// They run, and nothing changes.
// `pc` is where the running thread is, if it runs.
void report_hang(const Team& team, const void* pc);

}  // namespace fictl_emu
