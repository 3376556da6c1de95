// Clusters: their barrier, and the shared memory of one block as the others reach it.
#include "cluster.h"

#include <algorithm>
#include <cstring>

#include "checker.h"
#include "config.h"
#include "fiber.h"
#include "hopper/peers.h"
#include "report.h"
#include "scheduler.h"
#include "shared_map.h"
#include "wait.h"

namespace fictl_emu {

namespace {

constexpr unsigned kRankShift = 24;
constexpr uint32_t kOffsetMask = (uint32_t{1} << kRankShift) - 1;

std::string of_cluster(const Block& block) {
  return "of a cluster of " + std::to_string(block.place.blocks) + " blocks";
}

[[noreturn]] void stop_mismatch(const Site& site, const char* what, const char* cause) {
  Report report("barrier-mismatch", current());
  report.site(site);
  report.text("what", what).text("cause", cause);
  report.file();
  stop_kernel();
}

[[noreturn]] void stop_bad_rank(uint32_t rank, const Site& site) {
  Report report("cluster-target-gone", current());
  report.site(site);
  if (site.line == 0) report.place(__builtin_return_address(0));
  report.text("what", "shared memory of block " + std::to_string(rank) + " " +
                          of_cluster(*current()->block) + ", which are numbered from 0");
  report.text("cause", "the launch has a smaller cluster than the kernel counts on");
  report.file();
  stop_kernel();
}

[[noreturn]] void stop_bad_address(const std::string& what, uint32_t address, const void* pc) {
  Report report("bad-address", current());
  report.place(pc);
  report.text("what", what);
  report.number("address", address);
  report.file();
  stop_kernel();
}

// All that wait go on; `self` runs already.
void complete(Cluster& cluster) {
  ++cluster.phase;
  cluster.pending = cluster.alive;
  check::cluster_met(cluster);
  if (config.order == FICTL_EMU_REVERSE) {
    std::reverse(cluster.waiting.begin(), cluster.waiting.end());
  }
  for (Thread* thread : cluster.waiting) make_ready(*thread);
  cluster.waiting.clear();
  note_progress(*team);
}

Block& block_of(uint32_t address, const void* pc) {
  Block& own = *current()->block;
  Block* there = peer(own, address >> kRankShift);
  const uint32_t offset = (address & kOffsetMask) - SharedMemory::kWindow;
  if (there != nullptr && offset <= there->shared.reach) return *there;
  if (offset > own.shared.reach) {
    stop_bad_address("a 32-bit address that is not of shared memory", address, pc);
  }
  stop_bad_rank(address >> kRankShift, {});
}

char* pointer(Block& block, uint32_t address) {
  return block.shared.base + (address & kOffsetMask) - SharedMemory::kWindow;
}

uint32_t address_in(const Block& block, const char* pointer) {
  return block.place.rank << kRankShift |
         (SharedMemory::kWindow + static_cast<uint32_t>(pointer - block.shared.base));
}

bool is_end(const Block& block, const char* pointer) {
  return pointer == block.shared.base + block.shared.reach;
}

}  // namespace

bool has_begun(const Block& block) {
  if (block.cluster->phase != 0) return true;
  return std::any_of(block.threads.rbegin(), block.threads.rend(),
                     [](const Thread& thread) { return thread.state != State::kNew; });
}

void stop_target_gone(const Block& target, const void* pc) {
  const bool ended = target.alive == 0;
  Report report("cluster-target-gone", current());
  report.place(pc);
  report.text("what", "an access of block " + std::to_string(current()->block->place.rank) + " " +
                          of_cluster(target) + " to shared memory of block " +
                          std::to_string(target.place.rank) +
                          (ended ? ", which has ended" : ", which need not have begun"));
  report.text("cause", ended ? "a block must stay until the others are done with its memory: end "
                               "the kernel with barrier.cluster.arrive and .wait in all blocks"
                             : "nothing waits for its start: barrier.cluster.arrive and .wait in "
                               "all blocks come before the first access");
  report.file();
  stop_kernel();
}

void require_present(const Block& target, const void* pc) {
  if (&target == current()->block) return;
  if (target.alive == 0 || !has_begun(target)) stop_target_gone(target, pc);
}

void cluster_after_exit(Thread& thread) {
  Cluster& cluster = *thread.block->cluster;
  --cluster.alive;
  if (thread.cluster_arrivals == cluster.phase) --cluster.pending;
  if (cluster.pending == 0 && cluster.alive != 0) complete(cluster);
}

}  // namespace fictl_emu

extern "C" {

FictlEmuCluster fictl_emu_cluster() { return fictl_emu::current()->block->place; }

void fictl_emu_cluster_dims(unsigned x, unsigned y, unsigned z) {
  using namespace fictl_emu;
  Grid& grid = *current()->block->grid;
  const dim3& given = grid.asked.cluster;
  if (given.x == x && given.y == y && given.z == z) return;
  if (given.x != 0) {
    fictl_emu_stop("bad-launch",
                   "the launch names a cluster other than the __cluster_dims__ of the kernel", "",
                   0);
  }
  // The launch begins again with it: nothing of the kernel has run.
  if (!team->launch->stopped.exchange(true)) grid.required = dim3(x, y, z);
  stop_kernel();
}

void fictl_emu_cluster_arrive(int release, const char* file, int line) {
  using namespace fictl_emu;
  Thread& self = *current();
  Cluster& cluster = *self.block->cluster;
  if (self.cluster_arrivals != self.cluster_waits) {
    stop_mismatch({file, line},
                  "this thread comes to barrier.cluster.arrive again, and has not waited since it "
                  "was there before",
                  "between two arrivals of a thread there is one barrier.cluster.wait");
  }
  ++self.cluster_arrivals;
  cluster.site = {file, line};
  check::cluster_arrived(self, release != 0);
  if (--cluster.pending == 0) complete(cluster);
}

void fictl_emu_cluster_wait(const char* file, int line) {
  using namespace fictl_emu;
  Thread& self = *current();
  Cluster& cluster = *self.block->cluster;
  if (self.cluster_arrivals == self.cluster_waits) {
    stop_mismatch({file, line}, "this thread comes to barrier.cluster.wait and has not arrived",
                  "before a barrier.cluster.wait the same thread arrives");
  }
  if (cluster.phase < self.cluster_arrivals) {
    self.site = {file, line};
    self.operation = "barrier.cluster.wait";
    cluster.waiting.push_back(&self);
    wait(State::kCluster);
  }
  ++self.cluster_waits;
  check::cluster_waited(self);
}

void* fictl_emu_shared_pointer(uint32_t address) {
  using namespace fictl_emu;
  const void* pc = __builtin_return_address(0);
  Block& there = block_of(address, pc);
  if (&there != current()->block) {
    stop_bad_address("an address in block " + std::to_string(there.place.rank) + " " +
                         of_cluster(there) + ", in an instruction on the block's own shared " +
                         "memory: it takes .shared::cluster",
                     address, pc);
  }
  return pointer(there, address);
}

void* fictl_emu_cluster_pointer(uint32_t address) {
  using namespace fictl_emu;
  return pointer(block_of(address, __builtin_return_address(0)), address);
}

void* fictl_emu_cluster_target(uint32_t address) {
  using namespace fictl_emu;
  const void* pc = __builtin_return_address(0);
  Block& there = block_of(address, pc);
  require_present(there, pc);
  return pointer(there, address);
}

uint32_t fictl_emu_shared_address(const void* pointer, const char* file, int line) {
  using namespace fictl_emu;
  const Block& own = *current()->block;
  const char* address = static_cast<const char*>(pointer);
  if (is_end(own, address) || own.shared.contains(address)) return address_in(own, address);
  fictl_emu_stop("bad-address", "a pointer that is not to shared memory, taken as one", file, line);
}

uint32_t fictl_emu_cluster_address(const void* pointer, const char* file, int line) {
  using namespace fictl_emu;
  const Block* block = holder(pointer);
  if (block == nullptr || block == current()->block) {
    return fictl_emu_shared_address(pointer, file, line);
  }
  return address_in(*block, static_cast<const char*>(pointer));
}

void* fictl_emu_map_shared(const void* pointer, uint32_t rank, const char* file, int line) {
  using namespace fictl_emu;
  const Block* here = holder(pointer);
  if (here == nullptr) {
    fictl_emu_stop("bad-address", "a pointer that is not to shared memory, given to mapa", file,
                   line);
  }
  Block* there = peer(*current()->block, rank);
  if (there == nullptr) stop_bad_rank(rank, {file, line});
  return same_place(there->shared, here->shared, static_cast<const char*>(pointer));
}

uint32_t fictl_emu_shared_rank(const void* pointer, const char* file, int line) {
  using namespace fictl_emu;
  const Block* block = holder(pointer);
  if (block != nullptr) return block->place.rank;
  fictl_emu_stop("bad-address", "a pointer that is not to shared memory, given to getctarank", file,
                 line);
}

int fictl_emu_space(const void* pointer) {
  using namespace fictl_emu;
  const Block* block = holder(pointer);
  if (block == current()->block) return FICTL_EMU_SHARED;
  if (block != nullptr) return FICTL_EMU_PEER;
  return stacks->contains(pointer) ? FICTL_EMU_LOCAL : FICTL_EMU_GLOBAL;
}
}
