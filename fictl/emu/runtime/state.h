// State of the runtime while kernels run. A team is the blocks that must make progress together
// (one cluster; all of a cooperative grid; one cluster and more of each rank) and runs on one
// thread of the operating system; every CUDA thread of it is a fiber.
#pragma once

#include <fictl_emu/abi.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fictl_emu {

struct Block;
struct Cluster;
struct Fragment;  // hopper/fragment.h
struct Grid;
struct Mbarrier;
struct Clock;  // checker's: what a thread knows of others, beside its warp and its block
class Engine;  // hopper/engine.h
struct Team;
struct Thread;
struct Warp;

enum class State : uint8_t {
  kNew,
  kReady,
  kRunning,
  kBarrier,
  kMbarrier,
  kWarp,
  kActiveMask,
  kGrid,
  kWarpgroup,
  kCluster,
  kYielded,
  kDone
};

struct Site {
  const char* file = nullptr;
  int line = 0;
};

struct Copy {
  char* to;
  const char* from;
  int bytes;
  int source_bytes;
  int group;
  int number;  // among those of its thread
  const void* pc;
};

// A CUDA thread. The fields that every switch reads and writes are in its first 64 bytes.
struct alignas(64) Thread {
  void* stack_pointer = nullptr;  // of a fiber that is switched away
  Block* block = nullptr;
  uint3 index{};
  uint32_t linear = 0;  // in its block
  uint16_t warp = 0;
  uint8_t lane = 0;
  State state = State::kNew;
  uint32_t mask = 0;
  // Where it waits, and for what; of a warp operation that is kept until the next one.
  const char* operation = nullptr;
  Site site;

  const void* pc = nullptr;  // where it waits, if `site` has no line
  char* stack = nullptr;
  int barrier = 0;
  std::vector<Copy> copies;
  int copy_group = 0;
  uint32_t cluster_arrivals = 0;  // at the barrier of its cluster
  uint32_t cluster_waits = 0;     // behind them: as many, or one fewer
  int copies_issued = 0;
  uint32_t bulk_group = 0;                  // of bulk copies, that is open
  const void* uncommitted_store = nullptr;  // where one was issued into it

  Mbarrier* mbarrier = nullptr;  // where it sleeps
  // Where try_wait has given up since the team's last deed.
  std::vector<const Mbarrier*> given_up;
  uint64_t given_up_at = 0;
};

// A warp operation that some lanes have come to.
struct Collective {
  const char* name;
  uint32_t mask;
  uint32_t arrived;
  FictlEmuStep step;
  int meeting;
  void* arguments[32];
};

struct Warp {
  uint32_t lanes = 0;  // that there are: the last warp of a block may be smaller
  uint32_t alive = 0;
  std::vector<Collective> collectives;
};

constexpr int kBarriers = 16;

struct Barrier {
  int expected = 0;  // 0: the whole block
  int arrived = 0;
  Site site;  // of the first
  std::vector<Thread*> waiting;
  uint32_t came[32] = {};  // lanes of each warp, of those that come as warps
  int votes = 0;
  int result = 0;
};

// An mbarrier object of shared memory, beside the eight bytes that a kernel sees.
struct Mbarrier {
  Block* block;
  uint32_t offset;  // in shared memory
  const void* pc;   // of its initialisation
  uint32_t expected;
  uint32_t pending;  // arrivals of this phase
  int32_t tx = 0;    // bytes that are expected and have not arrived; below zero: early ones
  uint32_t phase = 0;
  int64_t announced = 0;  // bytes of this phase
  std::string latest;     // copy of this phase, in words, and its place
  const void* latest_pc = nullptr;
  std::vector<Thread*> waiting;
};

// First in first out, and last in first out for the schedule that wants it.
class Queue {
 public:
  bool empty() const { return head_ == threads_.size(); }
  size_t size() const { return threads_.size() - head_; }
  Thread*& operator[](size_t i) { return threads_[head_ + i]; }
  void push(Thread* thread) { threads_.push_back(thread); }

  Thread* pop_front() {
    Thread* thread = threads_[head_++];
    // Threads that spin push for as long as they pop.
    if (head_ == threads_.size() || head_ == kMostWaste) {
      threads_.erase(threads_.begin(), threads_.begin() + head_);
      head_ = 0;
    }
    return thread;
  }
  Thread* pop_back() {
    Thread* thread = threads_.back();
    threads_.pop_back();
    if (empty()) clear();
    return thread;
  }
  void clear() {
    threads_.clear();
    head_ = 0;
  }

 private:
  static constexpr size_t kMostWaste = 4096;
  std::vector<Thread*> threads_;
  size_t head_ = 0;
};

struct SharedVariable {
  const void* key;
  uint32_t offset;
  uint32_t bytes;
  const char* name;
};

// A part of shared memory that a kernel has declared.
struct SharedPart {
  uint32_t offset;
  uint32_t bytes;
  const char* name;

  bool contains(size_t at, size_t count) const {
    return at >= offset && at + count <= size_t{offset} + bytes;
  }
};

// Shared memory of one block: dynamic memory first, then static variables with gaps between them.
//
// In check mode the same memory is mapped once more for each part, so that an address tells for
// which part it is meant.
struct SharedMemory {
  static constexpr uint32_t kCapacity = 512 << 10;
  static constexpr uint32_t kMostParts = 24;
  // Where static variables begin, unless dynamic memory reaches further. Why not beyond it: a
  // descriptor of wgmma has 18 bits of an address.
  static constexpr uint32_t kStatic = 188 << 10;
  static constexpr uint32_t kGap = 64;
  static constexpr uint32_t kWindow = 0x1000;  // the 32-bit address of `base`

  char* base = nullptr;
  size_t reach = 0;  // of `base`: kCapacity, and in check mode as much for each part
  int file = -1;     // that is mapped for each part; in check mode alone
  int process = 0;   // whose file it is
  uint32_t dynamic_bytes = 0;
  uint32_t static_bytes = 0;
  uint32_t static_begin = kStatic;
  uint32_t static_end = kStatic;
  std::vector<SharedVariable> variables;
  std::vector<SharedPart> parts;
  uint32_t mapped_parts = 0;

  bool contains(const void* address) const {
    return static_cast<size_t>(static_cast<const char*>(address) - base) < reach;
  }
  // The part for which an address is meant, if any; and the address common to all mappings.
  const SharedPart* part_at(const char* address) const {
    const size_t window = static_cast<size_t>(address - base) / kCapacity;
    return window == 0 || window > parts.size() ? nullptr : &parts[window - 1];
  }
  const char* canonical(const char* address) const {
    return base + static_cast<size_t>(address - base) % kCapacity;
  }
};

// Four consecutive warps, the first at a multiple of four: what executes wgmma and setmaxnreg.
struct Warpgroup {
  static constexpr uint32_t kWarps = 4, kThreads = 128;

  uint32_t first = 0;    // thread of the block
  uint32_t threads = 0;  // that there are: the last one of a block may be smaller
  uint32_t alive = 0;

  // The instruction that some of its threads have come to.
  const char* instruction = nullptr;
  Site site;
  uint32_t arrived = 0;
  bool came[kThreads] = {};
  const void* arguments[kThreads] = {};

  // Products under way: accumulators that they hold, and what is not committed yet.
  std::vector<std::shared_ptr<Fragment>> fragments;
  uint32_t group = 0;        // that the next product belongs to
  uint32_t uncommitted = 0;  // products in it
  Site last_product;

  int registers = 0;  // of each thread
  int wanted = 0;     // by setmaxnreg.inc; 0: none
};

// The blocks that reach one another's shared memory, with their common barrier.
struct Cluster {
  std::vector<Block*> blocks;  // by rank
  uint32_t alive = 0;          // threads
  uint32_t pending = 0;        // those of them that have not arrived in this phase
  uint32_t phase = 0;
  std::vector<Thread*> waiting;
  Site site;  // of the latest arrival
};

struct Block {
  Team* team = nullptr;
  Grid* grid = nullptr;
  Cluster* cluster = nullptr;
  FictlEmuCluster place{};  // in its cluster
  uint3 index{};
  uint64_t linear = 0;  // in its grid
  uint32_t slot = 0;    // in its team
  uint32_t alive = 0;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<Warpgroup> warpgroups;
  int free_registers = 0;  // in the pool of setmaxnreg, of all threads together
  int blocks_an_sm = 1;    // by the launch bounds, as the kernel says
  Barrier barriers[kBarriers];
  std::map<uint32_t, Mbarrier> mbarriers;  // by offset
  SharedMemory shared;
};

// A kernel that one rank has launched.
struct Grid {
  FictlEmuLaunch asked{};
  int rank = 0;
  Grid* before = nullptr;  // the previous one of its rank, which ends first
  uint64_t clusters = 0;
  std::atomic<uint64_t> next_cluster{0};  // in the schedule's order
  std::atomic<uint64_t> blocks_left{0};   // that have not ended
  dim3 required{0, 0, 0};                 // __cluster_dims__, where the launch has named none
  std::vector<Thread*> at_sync;           // grid.sync()

  uint64_t blocks() const { return uint64_t{asked.grid.x} * asked.grid.y * asked.grid.z; }
};

// All that runs at once: a kernel, or those of several ranks.
struct Launch {
  std::deque<Grid> grids;
  int ranks = 1;
  uint64_t serial = 0;  // every launch of the process has its own
  uint64_t blocks = 0;
  std::atomic<uint64_t> begun{0};  // clusters, as the watchdog sees them
  std::atomic<bool> stopped{false};
  std::atomic<bool> overdue{false};  // the watchdog's patience is at its end
};

struct Team {
  Launch* launch = nullptr;
  std::vector<Block*> blocks;
  std::deque<Cluster> clusters;
  Thread* current = nullptr;
  const Block* shown = nullptr;  // whose blockIdx is visible
  const Grid* shown_grid = nullptr;

  Queue fresh;  // not started yet, in the schedule's order
  Queue ready;
  Queue yielded;                // spinning
  std::vector<Thread*> asking;  // in __activemask()
  uint32_t alive = 0;
  Engine* engine = nullptr;  // what threads have issued and does not run on their fibers

  void* main_stack_pointer = nullptr;
  uint64_t random = 0;
  bool interrupted = false;  // a thread that kept the others from running
  // Changes of mbarriers and issues of operations: what a thread in try_wait may wait for.
  uint64_t deeds = 0;
  uint64_t fruitless = 0;           // yields in turn with nothing else between them
  int64_t spinning_since = 0;       // milliseconds
  std::atomic<uint64_t> events{0};  // what the watchdog sees grow while threads take turns
};

// The team that runs on this thread of the operating system, if any.
extern __thread Team* team FICTL_EMU_TLS;

inline Thread* current() { return team->current; }

}  // namespace fictl_emu
