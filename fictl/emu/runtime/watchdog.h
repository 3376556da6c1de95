// Notices kernels that take too long, and threads that keep the others from running.
#pragma once

#include "state.h"

namespace fictl_emu {

class WatchdogScope {
 public:
  explicit WatchdogScope(Launch& launch);
  ~WatchdogScope();
  WatchdogScope(const WatchdogScope&) = delete;
  WatchdogScope& operator=(const WatchdogScope&) = delete;
};

}  // namespace fictl_emu
