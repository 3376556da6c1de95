#include "flights.h"

#include <algorithm>

namespace fictl_emu::check {

void Flights::issue(Epoch now, const void* pc) {
  if (!groups_.empty() && groups_.back().number == committed_) return;
  groups_.push_back({committed_, now, pc});
}

void Flights::wait(uint32_t pending, Epoch now, bool reads_alone) {
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    if (group->number + pending >= committed_) continue;
    if (group->end != 0) return;  // and so have all before it
    if (group->read == 0) group->read = now;
    if (!reads_alone) group->end = now;
  }
}

const Flights::Group* Flights::group_of(Epoch issued) const {
  const auto next =
      std::upper_bound(groups_.begin(), groups_.end(), issued,
                       [](Epoch epoch, const Group& group) { return epoch < group.begin; });
  return next == groups_.begin() ? nullptr : &*std::prev(next);
}

Epoch Flights::read_until(Epoch issued) const {
  const Group* group = group_of(issued);
  return group == nullptr ? 0 : group->read;
}

Epoch Flights::lasts_until(Epoch issued) const {
  const Group* group = group_of(issued);
  return group == nullptr ? 0 : group->end;
}

bool Flights::is_committed(Epoch issued) const {
  const Group* group = group_of(issued);
  return group != nullptr && group->number < committed_;
}

const void* Flights::unread() const {
  const bool all_read = groups_.empty() || groups_.back().read != 0;
  return all_read ? nullptr : groups_.back().pc;
}

}  // namespace fictl_emu::check
