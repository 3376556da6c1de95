// A warpgroup: four consecutive warps, the first at a multiple of four, that execute wgmma and
// setmaxnreg together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../state.h"

namespace fictl_emu {

struct Fragment;

struct Warpgroup {
  static constexpr uint32_t kWarps = 4, kThreads = 128;

  uint32_t first = 0;    // thread of the block
  uint32_t threads = 0;  // that there are: the last one of a block may be smaller
  uint32_t alive = 0;

  // The instruction that some of its threads have come to.
  const char* instruction = nullptr;
  Site site;
  uint32_t arrived = 0;
  bool came[kThreads] = {};
  const void* arguments[kThreads] = {};

  // Products under way: accumulators that they hold, and what is not committed yet.
  std::vector<std::shared_ptr<Fragment>> fragments;
  uint32_t group = 0;        // that the next product belongs to
  uint32_t uncommitted = 0;  // products in it
  Site last_product;

  int registers = 0;  // of each thread
  int wanted = 0;     // by setmaxnreg.inc; 0: none
};

// What the last thread of a warpgroup to come to an instruction does for all of them; false if
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
