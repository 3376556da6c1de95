// A warpgroup: four consecutive warps, the first at a multiple of four, that execute wgmma and
// setmaxnreg together.
#pragma once

#include <string>

#include "state.h"

namespace fictl_emu {

// The deed of the last thread of a warpgroup to come to an instruction, for all of them; false if
// they go on later, when another makes them ready by go_on().
using WarpgroupStep = bool (*)(Block& block, Warpgroup& group);

// The running thread comes to an instruction of its warpgroup, which must be all there and come to
// the same one. `name` is for reports.
void meet(const char* name, const void* argument, const Site& site, WarpgroupStep step);
void go_on(Block& block, Warpgroup& group, const Thread* but);

void begin_warpgroups(Block& block);
void warpgroup_after_exit(Thread& thread);

// Stops: `what` follows the instruction's name.
[[noreturn]] void stop_divergent(const Thread& thread, const Site& site, const std::string& what,
                                 const char* cause);

// "threads 0-31,64": of a block.
std::string those_that_came(const Warpgroup& group, bool came);

// registers.cpp: the pool of the block, from the size of its launch.
void begin_registers(Block& block);
// Empty unless the thread waits for registers.
std::string register_wait(const Thread& thread);

}  // namespace fictl_emu
