// The pages that the shared memory of a block lies in.
#pragma once

#include "state.h"

namespace fictl_emu {

// Gives it memory, which it keeps as long as the mode and the process stay the same.
void map_shared(SharedMemory& shared);

// Where `there` has what `here`, of a block of the same cluster, has at the address; for the same
// part, if it is meant for one.
char* same_place(SharedMemory& there, const SharedMemory& here, const char* address);

}  // namespace fictl_emu
