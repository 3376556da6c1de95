// The blocks of a cluster, as the rest of the runtime asks about them.
#pragma once

#include "state.h"

namespace fictl_emu {

// True if a thread of the block has run, or a barrier of its cluster is over.
bool has_begun(const Block& block);

// Ends the kernel: the running thread accesses shared memory of a block that has ended, or that
// need not have begun.
[[noreturn]] void stop_target_gone(const Block& target, const void* pc);
// The same, if that is so.
void require_present(const Block& target, const void* pc);

}  // namespace fictl_emu
