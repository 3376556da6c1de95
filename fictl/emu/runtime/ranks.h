// Launches of several ranks, which run at the same time because they wait for one another. They are
// kept, with their arguments, until the last rank has made its launches.
#pragma once

#include <driver_types.h>

#include "state.h"

#pragma GCC visibility push(default)
extern "C" {

// From here on launches are kept; they are of rank 0.
void fictl_emu_ranks_begin(void);
// The launches that follow are of this rank.
void fictl_emu_ranks_next(int rank);
// Runs what was kept: a cudaError_t. With `run` 0 it is thrown away.
int fictl_emu_ranks_end(int run);
}
#pragma GCC visibility pop

namespace fictl_emu {

struct RankLaunch {
  FictlEmuLaunch asked;
  int rank;
};

// launch.cpp: runs them at once, those of one rank one after another.
cudaError_t run_together(std::vector<RankLaunch> launches);

bool ranks_are_open();
// The rank whose launches are being made.
int open_rank();
cudaError_t keep_for_ranks(const FictlEmuLaunch& asked);
// False, with a report, if the call needs what is kept to have run: `name` is its function.
bool may_go_on(const char* name, const void* caller);

}  // namespace fictl_emu
