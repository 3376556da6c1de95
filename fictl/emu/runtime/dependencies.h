// Programmatic dependent launch: a kernel that may begin before those before it have ended touches
// nothing of theirs before its griddepcontrol.wait.
//
// Kernels run one after another here. So what earlier ones have touched is known from the stamps
// that their accesses have left, by the serials of their blocks.
#pragma once

#include <vector>

#include "order.h"
#include "shadow.h"
#include "state.h"

namespace fictl_emu::check {

// The waits of one block.
class DependencyWaits {
 public:
  void begin(size_t threads);
  void waits(const Thread& thread, const Order& order);
  void triggers() { triggers_early_ |= stamps_.empty(); }

  // True if the thread has waited, or is ordered after one that has.
  bool are_over(const Thread& thread, const Order& order) const;
  // True if the kernel after this one may begin before those before this one have ended.
  bool leave_earlier_ones_open() const { return triggers_early_ || stamps_.empty(); }

 private:
  std::vector<bool> waited_;   // by thread
  std::vector<Stamp> stamps_;  // of the first of each warp
  bool triggers_early_ = false;
};

// The launches that may not have ended when the present one begins.
class Dependencies {
 public:
  // The blocks of the launch have serials from `first` on.
  void launch_begins(bool programmatic, uint32_t first);
  void block_ends(const DependencyWaits& waits) { open_ |= waits.leave_earlier_ones_open(); }
  // The host has waited for all.
  void forget() { last_ = from_ = until_ = 0; }

  bool any() const { return from_ != until_; }
  uint32_t oldest() const { return from_; }
  bool includes(uint32_t serial) const { return from_ <= serial && serial < until_; }

 private:
  uint32_t from_ = 0, until_ = 0;  // serials of their blocks
  uint32_t last_ = 0;              // the first serial of the launch before
  bool programmatic_ = false;      // the launch is
  bool open_ = false;              // a block of it does not wait before the next may begin
};

}  // namespace fictl_emu::check
