#include "ranks.h"

#include "api.h"
#include "report.h"
#include "system.h"

namespace fictl_emu {

namespace {

Mutex ranks_mutex;  // of what follows
bool open = false;
int rank = 0;
std::vector<RankLaunch> kept;

std::vector<RankLaunch> take() {
  const Lock lock(ranks_mutex);
  open = false;
  std::vector<RankLaunch> taken;
  taken.swap(kept);
  return taken;
}

}  // namespace

bool ranks_are_open() {
  const Lock lock(ranks_mutex);
  return open;
}

int open_rank() {
  const Lock lock(ranks_mutex);
  return open ? rank : 0;
}

cudaError_t keep_for_ranks(const FictlEmuLaunch& asked) {
  const Lock lock(ranks_mutex);
  kept.push_back({asked, rank});
  kept.back().asked.arguments = asked.copy(asked.arguments);
  return cudaSuccess;
}

bool may_go_on(const char* name, const void* caller) {
  const Lock lock(ranks_mutex);
  if (!open) return true;
  bool waits = false;
  for (const RankLaunch& each : kept) waits |= each.rank == rank;
  if (!waits) return true;
  Report report("bad-argument", nullptr);
  report.number("rank", rank);
  report.text("what", std::string(name) +
                          "() behind a launch, where the launches of several ranks "
                          "are made: no kernel runs before all are there");
  report.text("cause", "what reads or changes results of a kernel stands behind the ranks' calls");
  report.place(caller);
  report.file();
  return false;
}

}  // namespace fictl_emu

extern "C" {

void fictl_emu_ranks_begin() {
  using namespace fictl_emu;
  take();
  const Lock lock(ranks_mutex);
  open = true;
  rank = 0;
}

void fictl_emu_ranks_next(int next) {
  using namespace fictl_emu;
  const Lock lock(ranks_mutex);
  rank = next;
}

int fictl_emu_ranks_end(int run) {
  using namespace fictl_emu;
  std::vector<RankLaunch> launches = take();
  const cudaError_t result = run != 0 && !launches.empty() ? run_together(launches) : cudaSuccess;
  for (const RankLaunch& each : launches) each.asked.discard(each.asked.arguments);
  return result;
}
}
