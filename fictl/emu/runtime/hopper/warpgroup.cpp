#include "warpgroup.h"

#include <algorithm>
#include <cstring>

#include "config.h"
#include "masks.h"
#include "report.h"
#include "scheduler.h"
#include "wgmma.h"

namespace fictl_emu {

namespace {

constexpr const char* kWhole =
    "wgmma and setmaxnreg are instructions of a warpgroup (four warps, the first at a multiple of "
    "four): have all of its threads come to each of them, in the same order";

std::string in_words(const Site& site) {
  return std::string(site.file) + ":" + std::to_string(site.line);
}

std::string whole(const Warpgroup& group) {
  return std::to_string(group.first) + "-" + std::to_string(group.first + group.threads - 1);
}

bool same(const Warpgroup& group, const char* name, const Site& site) {
  return same_operation(group.instruction, name) && group.site.line == site.line &&
         same_operation(group.site.file, site.file);
}

void require_whole(const Thread& self, const Warpgroup& group, const char* name, const Site& site) {
  if (group.alive == group.threads) return;
  stop_divergent(self, site,
                 std::string(name) + " of the warpgroup of threads " + whole(group) +
                     ", of which " + std::to_string(group.threads - group.alive) + " have returned",
                 kWhole);
}

// Others have come to something else.
void require_same(const Thread& self, const Warpgroup& group, const char* name, const Site& site) {
  if (same(group, name, site) && !group.came[self.linear - group.first]) return;
  stop_divergent(self, site,
                 std::string(name) + " here, while " + those_that_came(group, true) +
                     " of the same warpgroup are at " + group.instruction + ", " +
                     in_words(group.site),
                 kWhole);
}

void begin_meeting(Warpgroup& group, const char* name, const Site& site) {
  group.instruction = name;
  group.site = site;
  std::fill(std::begin(group.came), std::end(group.came), false);
}

}  // namespace

void stop_divergent(const Thread& thread, const Site& site, const std::string& what,
                    const char* cause) {
  Report report("divergent-warpgroup", &thread);
  report.site(site);
  report.text("what", what).text("cause", cause);
  report.file();
  stop_kernel();
}

std::string those_that_came(const Warpgroup& group, bool came) {
  std::vector<uint32_t> threads;
  for (uint32_t i = 0; i < group.threads; ++i) {
    if (group.came[i] == came) threads.push_back(group.first + i);
  }
  return (threads.size() == 1 ? "thread " : "threads ") + ranges(threads);
}

void meet(const char* name, const void* argument, const Site& site, WarpgroupStep step) {
  Thread& self = *current();
  Block& block = *self.block;
  Warpgroup& group = block.warpgroups[self.warp / Warpgroup::kWarps];
  self.site = site;
  self.operation = name;
  require_whole(self, group, name, site);
  if (group.arrived == 0) {
    begin_meeting(group, name, site);
  } else {
    require_same(self, group, name, site);
  }
  const uint32_t number = self.linear - group.first;
  group.came[number] = true;
  group.arguments[number] = argument;
  if (++group.arrived == group.threads) {
    const bool goes_on = step(block, group);
    group.arrived = 0;
    if (goes_on) return go_on(block, group, &self);
  }
  wait(State::kWarpgroup);
}

void go_on(Block& block, Warpgroup& group, const Thread* but) {
  for (uint32_t i = 0; i < group.threads; ++i) {
    const bool backwards = config.order == FICTL_EMU_REVERSE;
    Thread& thread = block.threads[group.first + (backwards ? group.threads - 1 - i : i)];
    if (&thread != but) make_ready(thread);
  }
  note_progress(*block.team);
}

void begin_warpgroups(Block& block) {
  const auto threads = static_cast<uint32_t>(block.threads.size());
  block.warpgroups.resize((threads + Warpgroup::kThreads - 1) / Warpgroup::kThreads);
  for (uint32_t i = 0; i < block.warpgroups.size(); ++i) {
    Warpgroup& group = block.warpgroups[i];
    group.first = i * Warpgroup::kThreads;
    group.threads = group.alive = std::min(Warpgroup::kThreads, threads - group.first);
    group.arrived = group.group = group.uncommitted = 0;
    group.fragments.clear();
  }
  begin_registers(block);
}

void warpgroup_after_exit(Thread& thread) {
  Warpgroup& group = thread.block->warpgroups[thread.warp / Warpgroup::kWarps];
  --group.alive;
  if (group.arrived != 0) {
    stop_divergent(thread, group.site,
                   std::string(group.instruction) + ": " + those_that_came(group, true) +
                       " wait there for thread " + std::to_string(thread.linear) +
                       " of their warpgroup, which has returned",
                   kWhole);
  }
  end_products(thread, group);
}

}  // namespace fictl_emu
