// Barriers of a block: __syncthreads() and the sixteen named ones, and the one of a whole grid.
#include <algorithm>
#include <cstring>

#include "checker.h"
#include "config.h"
#include "report.h"
#include "scheduler.h"
#include "wait.h"

namespace fictl_emu {

namespace {

bool complete(const Block& block, const Barrier& barrier) {
  const int expected = barrier.expected == 0 ? static_cast<int>(block.alive) : barrier.expected;
  return barrier.arrived != 0 && barrier.arrived >= expected;
}

// All but `self` become ready.
void release(Block& block, Barrier& barrier, const Thread* self) {
  // Those that have only arrived may have gone on since, and even ended.
  const bool all_wait = static_cast<int>(barrier.waiting.size()) == barrier.arrived;
  const bool whole = all_wait && barrier.waiting.size() == block.alive;
  if (whole) {
    check::block_met(block);
  } else {
    check::some_met(block, barrier);
  }
  if (config.order == FICTL_EMU_REVERSE) {
    std::reverse(barrier.waiting.begin(), barrier.waiting.end());
  }
  for (Thread* thread : barrier.waiting) {
    if (thread != self) make_ready(*thread);
  }
  barrier.result = barrier.votes;
  barrier.votes = 0;
  barrier.arrived = 0;
  barrier.expected = 0;
  barrier.waiting.clear();
  std::fill(std::begin(barrier.came), std::end(barrier.came), 0u);
  note_progress(*block.team);
}

std::vector<uint32_t> waiting_threads(const Barrier& barrier) {
  std::vector<uint32_t> threads;
  for (const Thread* thread : barrier.waiting) threads.push_back(thread->linear);
  std::sort(threads.begin(), threads.end());
  return threads;
}

bool same(const Site& a, const Site& b) {
  return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

[[noreturn]] void stop_at_barrier(const char* kind, const Barrier& barrier, const Site& site,
                                  int expected) {
  Report report(kind, current());
  report.site(site);
  report.text("waiting", ranges(waiting_threads(barrier)));
  report.text("waiting_file", barrier.site.file);
  report.number("waiting_line", barrier.site.line);
  report.number("waiting_expected", barrier.expected);
  report.number("expected", expected);
  report.file();
  stop_kernel();
}

[[noreturn]] void stop_at_count(const Site& site, const std::string& what, const char* cause) {
  Report report("barrier-mismatch", current());
  report.site(site);
  report.text("what", what).text("cause", cause);
  report.file();
  stop_kernel();
}

void require_number(int id, const Site& site) {
  if (id >= 0 && id < kBarriers) return;
  stop_at_count(site, "a barrier with the number " + std::to_string(id),
                "a block has 16 barriers: 0, which is that of __syncthreads(), to 15");
}

// The barrier with `count` more threads that have come to it.
Barrier& arrive(int id, int expected, const Site& site, int count = 1) {
  Block& block = *current()->block;
  require_number(id, site);
  Barrier& barrier = block.barriers[id];
  if (expected % 32 != 0) {
    stop_at_count(site, "a barrier for " + std::to_string(expected) + " threads",
                  "it counts whole warps: name a multiple of 32, of threads and not of warps");
  }
  if (expected != 0 && !check::may_arrive(*current(), id)) {
    stop_at_count(site,
                  "this thread comes to named barrier " + std::to_string(id) +
                      ", which others have just used, and nothing says that they have passed it",
                  "two groups of threads share the number of a barrier, so that it counts both: "
                  "give each group its own");
  }
  if (barrier.arrived == 0) {
    barrier.site = site;
    barrier.expected = expected;
  } else if (barrier.expected != expected) {
    stop_at_barrier("barrier-mismatch", barrier, site, expected);
  } else if (id == 0 && expected == 0 && !same(barrier.site, site)) {
    stop_at_barrier("divergent-barrier", barrier, site, expected);
  }
  barrier.arrived += count;
  return barrier;
}

// One lane of a warp that comes as a whole.
struct Coming {
  int id, threads;
  uint32_t present;
};

void agree(void* const* lanes, uint32_t present) {
  const auto& first = *static_cast<Coming*>(lanes[__builtin_ctz(present)]);
  for (uint32_t left = present; left != 0; left &= left - 1) {
    auto& lane = *static_cast<Coming*>(lanes[__builtin_ctz(left)]);
    lane.present = present;
    if (lane.id == first.id && lane.threads == first.threads) continue;
    stop_at_count(current()->site,
                  "lanes of one warp come to the named barriers " + std::to_string(first.id) +
                      " and " + std::to_string(lane.id) + ", for " + std::to_string(first.threads) +
                      " and " + std::to_string(lane.threads) + " threads",
                  "bar counts whole warps: all lanes name the same barrier and number");
  }
}

// Lets the lanes of the warp come together. Returns how many threads the calling lane counts as:
// the first one stands for those that have returned, too.
int come_as_warp(const char* name, int id, int threads, const Site& site) {
  const Thread& self = *current();
  const Warp& warp = self.block->warps[self.warp];
  require_number(id, site);
  Coming lane{id, threads, 0};
  fictl_emu_warp(name, warp.lanes, &lane, agree, 0, site.file, site.line);
  uint32_t& came = self.block->barriers[id].came[self.warp];
  if ((came >> self.lane & 1) != 0) {
    stop_at_count(site,
                  "warp " + std::to_string(self.warp) + " comes to named barrier " +
                      std::to_string(id) + " again before its first arrival there is used",
                  "one barrier is used for two purposes, or its other side lags behind: give each "
                  "use its own number, or wait for the other side in between");
  }
  came |= uint32_t{1} << self.lane;
  const bool is_first = (lane.present & ((uint32_t{1} << self.lane) - 1)) == 0;
  return is_first ? 1 + __builtin_popcount(warp.lanes & ~lane.present) : 1;
}

void sync(int id, int threads, int count, const Site& site) {
  Thread& self = *current();
  self.site = site;
  self.barrier = id;
  Barrier& barrier = arrive(id, threads, site, count);
  barrier.waiting.push_back(&self);
  if (complete(*self.block, barrier)) {
    release(*self.block, barrier, &self);
  } else {
    wait(State::kBarrier);
  }
}

void arrive_and_go_on(int id, int threads, int count, const Site& site) {
  Thread& self = *current();
  Barrier& barrier = arrive(id, threads, site, count);
  check::arrived(self, barrier);
  if (complete(*self.block, barrier)) release(*self.block, barrier, nullptr);
}

// A block that has ended is waited for in vain, as on a GPU.
bool grid_complete(const Team& team, const Grid& grid) {
  uint64_t alive = 0;
  for (const Block* block : team.blocks) {
    if (block->grid != &grid) continue;
    if (block->alive == 0) return false;
    alive += block->alive;
  }
  return grid.at_sync.size() == alive;
}

void release_grid(Team& team, Grid& grid, const Thread* self) {
  check::grid_met(team, grid);
  for (Thread* thread : grid.at_sync) {
    if (thread != self) make_ready(*thread);
  }
  grid.at_sync.clear();
  note_progress(team);
}

}  // namespace

void barriers_after_exit(Thread& thread) {
  Block& block = *thread.block;
  for (Barrier& barrier : block.barriers) {
    if (barrier.expected == 0 && complete(block, barrier)) release(block, barrier, nullptr);
  }
}

void grid_after_exit(Thread& thread) {
  Grid& grid = *thread.block->grid;
  if (!grid.at_sync.empty() && grid_complete(*team, grid)) release_grid(*team, grid, nullptr);
}

}  // namespace fictl_emu

extern "C" {

void fictl_emu_barrier(int id, int threads, const char* file, int line) {
  fictl_emu::sync(id, threads, 1, {file, line});
}

void fictl_emu_bar_sync(int id, int threads, const char* file, int line) {
  using namespace fictl_emu;
  const Site site{file, line};
  // All of the block: sync() sees by itself that some do not come.
  sync(id, threads, threads == 0 ? 1 : come_as_warp(kBarSync, id, threads, site), site);
}

void fictl_emu_barrier_arrive(int id, int threads, const char* file, int line) {
  fictl_emu::arrive_and_go_on(id, threads, 1, {file, line});
}

void fictl_emu_bar_arrive(int id, int threads, const char* file, int line) {
  using namespace fictl_emu;
  const Site site{file, line};
  arrive_and_go_on(id, threads, come_as_warp(kBarArrive, id, threads, site), site);
}

int fictl_emu_barrier_vote(int predicate, int how, const char* file, int line) {
  using namespace fictl_emu;
  Block& block = *current()->block;
  Barrier& barrier = block.barriers[0];
  barrier.votes += predicate != 0;
  const int voters = static_cast<int>(block.alive);
  fictl_emu_barrier(0, 0, file, line);
  if (how == FICTL_EMU_COUNT) return barrier.result;
  return how == FICTL_EMU_AND ? barrier.result == voters : barrier.result != 0;
}

void fictl_emu_grid_sync(const char* file, int line) {
  using namespace fictl_emu;
  Grid& grid = *current()->block->grid;
  if (!grid.asked.cooperative) {
    fictl_emu_stop("bad-launch", "grid.sync() in a kernel that was not launched cooperatively",
                   file, line);
  }
  Thread& self = *current();
  self.site = {file, line};
  grid.at_sync.push_back(&self);
  if (grid_complete(*team, grid)) {
    release_grid(*team, grid, &self);
  } else {
    wait(State::kGrid);
  }
}
}
