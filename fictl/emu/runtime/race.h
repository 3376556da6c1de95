// Two accesses to one place that nothing orders.
#pragma once

#include "access.h"
#include "shadow.h"

namespace fictl_emu::check {

// An access of `thread` that `rival` is not ordered before, which wrote or read the same memory.
struct Race {
  Access access;
  const Thread* thread;
  Stamp rival;
  bool rival_wrote;
  bool rival_read;       // beside that: it has changed what it found
  bool updates = false;  // and so does the access, or the write that follows it
};

}  // namespace fictl_emu::check
