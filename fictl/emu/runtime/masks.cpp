#include "masks.h"

#include "report.h"

namespace fictl_emu {

namespace {

uint32_t bit(uint32_t lane) { return uint32_t{1} << lane; }

[[noreturn]] void stop(const Thread& thread, const std::string& what, const char* cause) {
  Report report("bad-mask", &thread);
  report.site(thread.site);
  report.text("operation", thread.operation).number("mask", thread.mask);
  report.text("what", thread.operation + (" with the mask " + mask_in_words(thread.mask)) + what);
  report.text("cause", cause);
  report.file();
  stop_kernel();
}

// Those of `absent` that have come to the same call, and named others.
uint32_t with_another_mask(const Thread* lanes, uint32_t absent, const Thread& caller) {
  uint32_t different = 0;
  for (uint32_t left = absent; left != 0; left &= left - 1) {
    const Thread& thread = lanes[__builtin_ctz(left)];
    const bool same_call = thread.operation != nullptr && thread.site.line == caller.site.line &&
                           same_operation(thread.operation, caller.operation) &&
                           same_operation(thread.site.file, caller.site.file);
    if (same_call && thread.mask != caller.mask) different |= bit(thread.lane);
  }
  return different;
}

// Reductions and scans by up and down leave nonsense at the end of a group, and nobody uses it: not
// where the value ends up, and not where the group is not a power of two and the step is long.
bool is_ignored(uint32_t present, uint32_t lane, uint32_t from, int direction) {
  const uint32_t first = __builtin_ctz(present), last = 31 - __builtin_clz(present);
  const int count = __builtin_popcount(present);
  const bool contiguous = last - first + 1 == static_cast<uint32_t>(count);
  const bool beyond = direction == FICTL_EMU_DOWN ? from > last : from < first;
  if (direction == FICTL_EMU_ANYWHERE || !contiguous || !beyond) return false;
  if (from == lane + 1 || from + 1 == lane) return true;
  return (count & (count - 1)) == 0 && lane != (direction == FICTL_EMU_DOWN ? first : last);
}

}  // namespace

std::string mask_in_words(uint32_t mask) {
  char text[16];
  snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

std::string lanes_in_words(uint32_t lanes) {
  std::vector<uint32_t> numbers;
  for (uint32_t left = lanes; left != 0; left &= left - 1) numbers.push_back(__builtin_ctz(left));
  return (numbers.size() == 1 ? "lane " : "lanes ") + ranges(numbers);
}

void stop_without_caller(const Thread& caller) {
  stop(caller, ", which does not name the calling lane " + std::to_string(caller.lane),
       "the mask must name every lane that calls, as a ballot before the branch gives it");
}

void require_participants(const Block& block, uint32_t warp, const Collective& collective) {
  const uint32_t absent = collective.mask & block.warps[warp].lanes & ~collective.arrived;
  if (absent == 0) return;
  const Thread* lanes = &block.threads[warp * 32];
  const Thread& caller = lanes[__builtin_ctz(collective.arrived)];
  const uint32_t different = with_another_mask(lanes, absent, caller);
  if (different != 0) {
    const uint32_t theirs = lanes[__builtin_ctz(different)].mask;
    stop(caller,
         ", which names " + lanes_in_words(different) + ": called there with the mask " +
             mask_in_words(theirs),
         "the lanes of one warp operation must all pass the same mask");
  }
  if ((collective.meeting & FICTL_EMU_NEEDS_ALL) == 0) return;
  stop(caller, ", which names " + lanes_in_words(absent) + ": returned without calling it",
       "what a lane that does not call would give is undefined: have all that are named call it, "
       "and "
       "guard their loads instead, or name those alone that do, by __ballot_sync() before they "
       "part");
}

}  // namespace fictl_emu

extern "C" void fictl_emu_shuffled_from_nobody(const char* name, uint32_t mask, uint32_t present,
                                               uint32_t from, int direction, const char*, int) {
  using namespace fictl_emu;
  const Thread& self = *current();
  if (is_ignored(present, self.lane, from, direction)) return;
  const bool exists = (self.block->warps[self.warp].lanes & bit(from)) != 0;
  stop(
      self,
      ": lane " + std::to_string(self.lane) + " reads lane " + std::to_string(from) +
          (exists ? ", which the mask does not name" : ", which the block does not have"),
      "what a lane reads from one that takes no part is undefined: name it in the mask and have it "
      "call, or read from no lanes but those");
}
