// The blocks that run together on one thread of the operating system.
#pragma once

#include "fiber.h"
#include "hopper/engine.h"
#include "signals.h"
#include "state.h"

namespace fictl_emu {

// One of the operating system's threads that run kernels: a team, and blocks and stacks to fill it
// with. Why one object on the heap: thread-local storage of a library that is loaded late is
// scarce.
class Worker {
 public:
  Worker();
  ~Worker();

  // Runs blocks of the launch until there are none left, or it is stopped.
  void work(Launch& launch);

 private:
  friend bool add_cluster(Team& team);

  void begin_team(Launch& launch);
  Block& spare_block();

  Team team_;
  Engine engine_;
  Stacks stacks_;
  SignalStack signal_stack_;
  std::vector<Block*> all_;  // those of team_.blocks first
};

// The worker of this thread of the operating system.
Worker& worker();

// One more cluster of the launch in this team, for kernels whose blocks wait for one another; false
// if all have been begun, or there are as many as a GPU would hold.
bool add_cluster(Team& team);

// In blocks; one where the launch has none.
dim3 cluster_shape(const FictlEmuLaunch& asked);

// memory.cpp
void begin_shared(SharedMemory& shared, size_t dynamic_bytes);

}  // namespace fictl_emu
