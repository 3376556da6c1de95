// Barriers and warps when one of their threads has ended, or asks which threads are there.
#pragma once

#include "state.h"

namespace fictl_emu {

// The warp operations by which the lanes of a warp come to a named barrier.
constexpr const char* kBarSync = "bar.sync";
constexpr const char* kBarArrive = "bar.arrive";

// Those that waited only for `thread` go on.
void barriers_after_exit(Thread& thread);
void warps_after_exit(Thread& thread);
void grid_after_exit(Thread& thread);
void cluster_after_exit(Thread& thread);

// No thread can run but those in __activemask(): each gets the lanes that are at its place.
void answer_activemask(Team& team);

}  // namespace fictl_emu
