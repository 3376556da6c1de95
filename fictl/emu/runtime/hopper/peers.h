// The blocks whose shared memory a thread can reach: those of its cluster.
#pragma once

#include "state.h"

namespace fictl_emu {

// The block whose shared memory an address is of, as the block of the running thread sees it; null
// where it is of none.
Block* holder(const void* address);
Block* holder(const Block& from, const void* address);

// The block with that rank in the cluster of `block`; null where there is none.
Block* peer(Block& block, uint32_t rank);

}  // namespace fictl_emu
