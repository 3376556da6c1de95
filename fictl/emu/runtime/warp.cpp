// Operations of the lanes of a warp: one mechanism for shuffles, votes, matrix instructions and
// __syncwarp().
#include <cstring>

#include "checker.h"
#include "config.h"
#include "masks.h"
#include "scheduler.h"
#include "wait.h"

namespace fictl_emu {

namespace {

Collective& join(Warp& warp, const char* name, uint32_t mask, FictlEmuStep step, int meeting) {
  for (Collective& collective : warp.collectives) {
    if (collective.mask == mask && same_operation(collective.name, name)) return collective;
  }
  warp.collectives.push_back({name, mask, 0, step, meeting, {}});
  return warp.collectives.back();
}

bool complete(const Warp& warp, const Collective& collective) {
  return (collective.mask & warp.alive & ~collective.arrived) == 0;
}

// Runs the step; all but `self` become ready.
void finish(Block& block, uint32_t number, Collective& among, const Thread* self) {
  Warp& warp = block.warps[number];
  require_participants(block, number, among);
  const Collective collective = among;
  among = warp.collectives.back();
  warp.collectives.pop_back();
  if (collective.step != nullptr) collective.step(collective.arguments, collective.arrived);
  const bool orders_memory = (collective.meeting & FICTL_EMU_ORDERS_MEMORY) != 0;
  check::warp_met(block, number, collective.arrived, orders_memory);
  Thread* lanes = &block.threads[number * 32];
  for (uint32_t left = collective.arrived; left != 0; left &= left - 1) {
    Thread& thread = lanes[__builtin_ctz(left)];
    if (&thread != self) make_ready(thread);
  }
  note_progress(*block.team);
}

}  // namespace

void warps_after_exit(Thread& thread) {
  Block& block = *thread.block;
  Warp& warp = block.warps[thread.warp];
  for (size_t i = 0; i < warp.collectives.size();) {
    if (complete(warp, warp.collectives[i])) {
      finish(block, thread.warp, warp.collectives[i], nullptr);
      i = 0;
    } else {
      ++i;
    }
  }
}

void answer_activemask(Team& team) {
  for (Thread* thread : team.asking) {
    thread->mask = 0;
    for (const Thread* other : team.asking) {
      const bool together = other->block == thread->block && other->warp == thread->warp &&
                            other->site.line == thread->site.line &&
                            same_operation(other->site.file, thread->site.file);
      if (together) thread->mask |= uint32_t{1} << other->lane;
    }
  }
  for (Thread* thread : team.asking) make_ready(*thread);
  team.asking.clear();
  note_progress(team);
}

}  // namespace fictl_emu

extern "C" {

void fictl_emu_warp(const char* name, uint32_t mask, void* argument, FictlEmuStep step, int meeting,
                    const char* file, int line) {
  using namespace fictl_emu;
  static char no_argument;
  Thread& self = *current();
  Block& block = *self.block;
  Warp& warp = block.warps[self.warp];
  const uint32_t bit = uint32_t{1} << self.lane;
  self.site = {file, line};
  self.operation = name;
  self.mask = mask;
  if ((mask & bit) == 0) stop_without_caller(self);

  Collective& collective = join(warp, name, mask, step, meeting);
  collective.arrived |= bit;
  collective.arguments[self.lane] = argument != nullptr ? argument : &no_argument;
  if (complete(warp, collective)) {
    finish(block, self.warp, collective, &self);
    return;
  }
  wait(State::kWarp);
}

uint32_t fictl_emu_activemask(const char* file, int line) {
  using namespace fictl_emu;
  Thread& self = *current();
  self.site = {file, line};
  team->asking.push_back(&self);
  wait(State::kActiveMask);
  return self.mask;
}
}
