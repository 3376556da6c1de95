#include "dependencies.h"

#include <algorithm>

#include "checker.h"
#include "scheduler.h"

namespace fictl_emu::check {

void DependencyWaits::begin(size_t threads) {
  waited_.assign(threads, false);
  stamps_.clear();
  triggers_early_ = false;
}

void DependencyWaits::waits(const Thread& thread, const Order& order) {
  waited_[thread.linear] = true;
  const auto of_its_warp = [&](const Stamp& stamp) { return stamp.thread / 32 == thread.warp; };
  if (std::any_of(stamps_.begin(), stamps_.end(), of_its_warp)) return;
  Stamp stamp{};
  stamp.thread = thread.linear;
  stamp.block = order.serial();
  stamp.epoch = order.now(thread.linear);
  stamps_.push_back(stamp);
}

bool DependencyWaits::are_over(const Thread& thread, const Order& order) const {
  if (waited_[thread.linear]) return true;
  return std::any_of(stamps_.begin(), stamps_.end(),
                     [&](const Stamp& stamp) { return order.follows(thread.linear, stamp); });
}

void Dependencies::launch_begins(bool programmatic, uint32_t first) {
  const bool earlier_ended = !programmatic_ || !open_ || from_ == until_;
  if (!programmatic || last_ == 0) {
    from_ = until_ = first;
  } else {
    from_ = earlier_ended ? last_ : from_;
    until_ = first;
  }
  last_ = first;
  programmatic_ = programmatic;
  open_ = false;
}

}  // namespace fictl_emu::check

extern "C" {

void fictl_emu_dependencies_wait() {
  if (fictl_emu::team != nullptr) fictl_emu::check::dependencies_waited(*fictl_emu::current());
}

void fictl_emu_dependents_launch() {
  if (fictl_emu::team != nullptr) fictl_emu::check::dependents_launched(*fictl_emu::current());
}
}
