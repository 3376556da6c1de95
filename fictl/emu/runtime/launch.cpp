// A launch: checked as the driver checks it, then its blocks spread over threads of the operating
// system. It returns when the kernel has ended.
#include <driver_types.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "api.h"
#include "checker.h"
#include "config.h"
#include "ranks.h"
#include "report.h"
#include "scheduler.h"
#include "team.h"
#include "watchdog.h"

namespace fictl_emu {

namespace {

std::string dims(const dim3& d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

constexpr uint64_t kMostPortable = 8, kMostInCluster = 16;

uint64_t volume(const dim3& d) { return uint64_t{d.x} * d.y * d.z; }

// The error in the shape of a launch; empty if it is valid.
std::string shape_problem(const FictlEmuLaunch& asked) {
  const dim3 &grid = asked.grid, &block = asked.block;
  if (volume(block) == 0 || volume(grid) == 0) return "has a dimension of zero";
  if (volume(block) > 1024) return "has more than 1024 threads a block";
  if (block.z > 64) return "has a block deeper than 64";
  if (grid.x > 0x7FFFFFFF || grid.y > 65535 || grid.z > 65535) return "has too large a grid";
  return "";
}

std::string cluster_problem(const FictlEmuLaunch& asked) {
  const dim3 shape = cluster_shape(asked);
  const uint64_t blocks = volume(shape);
  if (blocks == 0) return " has a dimension of zero";
  if (asked.grid.x % shape.x != 0 || asked.grid.y % shape.y != 0 || asked.grid.z % shape.z != 0) {
    return " does not divide the grid " + dims(asked.grid);
  }
  if (blocks > kMostInCluster) {
    return " has " + std::to_string(blocks) + " blocks, more than 16";
  }
  if (blocks > kMostPortable && !allows_large_clusters(asked.function)) {
    return " has " + std::to_string(blocks) +
           " blocks, more than 8: cudaFuncSetAttribute("
           "cudaFuncAttributeNonPortableClusterSizeAllowed) allows 16";
  }
  return "";
}

cudaError_t refuse(cudaError_t error, const FictlEmuLaunch& asked, const std::string& what) {
  Report report("bad-launch", nullptr);
  report.kernel(asked);
  report.text("what", what);
  report.file();
  return set_last_error(error);
}

cudaError_t examine(const FictlEmuLaunch& asked) {
  const std::string problem = shape_problem(asked);
  if (!problem.empty()) {
    return refuse(cudaErrorInvalidConfiguration, asked,
                  "grid " + dims(asked.grid) + ", block " + dims(asked.block) + " " + problem);
  }
  const std::string wrong = cluster_problem(asked);
  if (!wrong.empty()) {
    return refuse(cudaErrorInvalidClusterSize, asked,
                  "cluster " + dims(cluster_shape(asked)) + wrong);
  }
  const size_t allowed = dynamic_shared_limit(asked.function);
  if (asked.dynamic_shared > allowed) {
    return refuse(cudaErrorInvalidValue, asked,
                  std::to_string(asked.dynamic_shared) + " bytes of dynamic shared memory, where " +
                      std::to_string(allowed) +
                      " are allowed: cudaFuncSetAttribute("
                      "cudaFuncAttributeMaxDynamicSharedMemorySize) allows more");
  }
  return cudaSuccess;
}

// Threads of the operating system that help with launches, started when first needed.
class Helpers {
 public:
  // `launch` on this thread and on up to `count` others.
  void work(Launch& launch, int count) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      // A child of fork() has no thread but the one that called it.
      if (started_in_ != getpid()) threads_ = working_ = 0;
      started_in_ = getpid();
      for (; threads_ < count; ++threads_) std::thread([this] { serve(); }).detach();
      launch_ = &launch;
      wanted_ = count;
    }
    changed_.notify_all();
    worker().work(launch);
    std::unique_lock<std::mutex> lock(mutex_);
    wanted_ = 0;
    changed_.wait(lock, [this] { return working_ == 0; });
  }

 private:
  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return wanted_ > 0; });
      --wanted_;
      ++working_;
      Launch& launch = *launch_;
      lock.unlock();
      worker().work(launch);
      lock.lock();
      --working_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  pid_t started_in_ = 0;
  int threads_ = 0;
  Launch* launch_ = nullptr;
  int wanted_ = 0;
  int working_ = 0;
};

// Never destroyed: its threads outlive main().
Helpers& helpers() {
  static Helpers* const all = new Helpers;
  return *all;
}

int worker_count(const Launch& launch) {
  constexpr uint64_t kWorthHelp = 256;
  const FictlEmuLaunch& asked = launch.grids.front().asked;
  if (check::enabled || launch.grids.size() > 1 || asked.cooperative) return 1;
  if (launch.blocks * volume(asked.block) < kWorthHelp) return 1;
  const uint64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const uint64_t allowed = config.threads > 0 ? config.threads : cores;
  return static_cast<int>(std::min(allowed, launch.grids.front().clusters));
}

void fill(Launch& launch, const std::vector<RankLaunch>& launches) {
  static uint64_t serial = 0;
  launch.serial = ++serial;
  for (const RankLaunch& each : launches) {
    Grid* before = nullptr;
    for (Grid& earlier : launch.grids) {
      if (earlier.rank == each.rank) before = &earlier;
    }
    Grid& grid = launch.grids.emplace_back();
    grid.asked = each.asked;
    grid.rank = each.rank;
    grid.before = before;
    grid.clusters = grid.blocks() / volume(cluster_shape(each.asked));
    grid.blocks_left = grid.blocks();
    launch.blocks += grid.blocks();
    launch.ranks = std::max(launch.ranks, each.rank + 1);
  }
}

void run(Launch& launch) {
  check::launch_begins(launch);
  const int workers = worker_count(launch);
  {
    const WatchdogScope watched(launch);
    if (workers == 1) {
      worker().work(launch);
    } else {
      helpers().work(launch, workers - 1);
    }
  }
  check::launch_ends(launch);
}

// True if a kernel has __cluster_dims__ of which its launch did not know: that knows them now.
bool learn_clusters(const Launch& launch, std::vector<RankLaunch>& launches) {
  bool learnt = false;
  for (size_t i = 0; i < launches.size(); ++i) {
    if (launch.grids[i].required.x == 0) continue;
    launches[i].asked.cluster = launch.grids[i].required;
    learnt = true;
  }
  return learnt;
}

}  // namespace

cudaError_t run_together(std::vector<RankLaunch> launches) {
  // One launch at a time, as on one stream: Python may call from several threads.
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  for (;;) {
    for (const RankLaunch& each : launches) {
      const cudaError_t refused = examine(each.asked);
      if (refused != cudaSuccess) return refused;
    }
    Launch launch;
    fill(launch, launches);
    run(launch);
    if (learn_clusters(launch, launches)) continue;
    fflush(stdout);  // what the kernel has printed, before what its caller prints
    return launch.stopped ? set_last_error(cudaErrorLaunchFailure) : cudaSuccess;
  }
}

}  // namespace fictl_emu

extern "C" int fictl_emu_launch(const FictlEmuLaunch* asked) {
  using namespace fictl_emu;
  if (team != nullptr) {
    fictl_emu_missing("a launch from a kernel (dynamic parallelism)", "", 0);
  }
  if (ranks_are_open()) return keep_for_ranks(*asked);
  return run_together({{*asked, 0}});
}
