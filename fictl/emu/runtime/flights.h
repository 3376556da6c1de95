// Groups of asynchronous operations that one thread counts: bulk stores, and wgmma. Their accesses
// last from the issue until the thread has waited for the group.
#pragma once

#include <cstdint>
#include <vector>

#include "clock.h"

namespace fictl_emu::check {

class Flights {
 public:
  // An operation joins the open group. Each group's epochs are its own.
  void issue(Epoch now, const void* pc);
  void commit() { ++committed_; }
  // All but the newest `pending` committed groups have read what they read, or have ended.
  void wait(uint32_t pending, Epoch now, bool reads_alone);

  // When the thread has waited for what it has issued then; 0 if it has not.
  Epoch read_until(Epoch issued) const;
  Epoch lasts_until(Epoch issued) const;
  bool is_committed(Epoch issued) const;
  // The place of an operation whose source may still be read; null if there is none.
  const void* unread() const;

 private:
  struct Group {
    uint32_t number;
    Epoch begin;
    const void* pc;
    Epoch read = 0;
    Epoch end = 0;
  };
  const Group* group_of(Epoch issued) const;

  uint32_t committed_ = 0;
  std::vector<Group> groups_;
};

}  // namespace fictl_emu::check
