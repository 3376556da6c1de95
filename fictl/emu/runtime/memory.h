// cp.async: copies of a thread that land later.
#pragma once

#include "checker.h"
#include "config.h"
#include "state.h"

namespace fictl_emu {

void transfer(const Copy& copy);

// Lands the oldest copies of the thread, as long as `due` holds for them.
template <class Due>
void land_copies(Thread& thread, Due due) {
  size_t landed = 0;
  while (landed < thread.copies.size() && due(thread.copies[landed])) {
    const Copy& copy = thread.copies[landed++];
    check::copy_landed(thread, copy);
    if (!config.early_copies) transfer(copy);
  }
  thread.copies.erase(thread.copies.begin(), thread.copies.begin() + landed);
}

}  // namespace fictl_emu
