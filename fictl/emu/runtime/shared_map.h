// The pages that the shared memory of a block lies in.
#pragma once

#include "state.h"

namespace fictl_emu {

// Gives it memory, which it keeps as long as the mode and the process stay the same.
void map_shared(SharedMemory& shared);

}  // namespace fictl_emu
