// The state of an mbarrier in the words of reports.
#include "mbarrier.h"
#include "report.h"

namespace fictl_emu {

std::string state_of(const Mbarrier& barrier) {
  std::string text = "parity " + std::to_string(barrier.phase & 1) + ", ";
  text += std::to_string(barrier.pending) + " of " + std::to_string(barrier.expected) +
          (barrier.expected == 1 ? " arrival missing" : " arrivals missing");
  if (barrier.tx > 0) {
    text += ", " + std::to_string(barrier.tx) + " of " + std::to_string(barrier.announced) +
            " bytes missing";
  } else if (barrier.tx < 0) {
    text += ", " + std::to_string(-barrier.tx) + " bytes more than the " +
            std::to_string(barrier.announced) + " expected";
  }
  return text;
}

void add_latest_copy(Report& report, const Mbarrier& barrier) {
  if (barrier.latest.empty()) return;
  report.other("the latest copy: " + barrier.latest, nullptr, barrier.latest_pc);
}

}  // namespace fictl_emu
