// Records of the checker during a launch. Blocks of a checked launch run on one thread of
// the operating system, so that nothing here needs a lock.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "access.h"
#include "dependencies.h"
#include "flights.h"
#include "host_memory.h"
#include "order.h"
#include "race.h"
#include "registers_in_use.h"
#include "shadow.h"
#include "tensors.h"
#include "waiting.h"

namespace fictl_emu::check {

// Beside the shared memory of a block. It is used by one block after another: the accesses of
// an earlier one have its serial.
class SharedRecord {
 public:
  static constexpr unsigned kGranuleLog2 = 1;  // exact for half precision, and half the cells of 1

  SharedRecord();
  void block_begins(const SharedMemory& shared);

  void mark_written(size_t offset, size_t bytes);
  // The first byte that nothing has been written to; `bytes` if there is none.
  size_t first_unwritten(size_t offset, size_t bytes) const;

  Shadow cells;

 private:
  uint8_t* written() const { return static_cast<uint8_t*>(written_.data()); }

  LazyMemory written_;      // a byte for each byte
  size_t end_dynamic_ = 0;  // of what is marked
  size_t begin_static_ = 0, end_static_ = 0;
};

// The latest access of a thread to shared memory of another block.
struct Visit {
  Stamp stamp;
  uint32_t cluster_arrivals;  // of the thread, until then
};

// Knowledge that arrivals at an mbarrier hand to those that wait there.
struct PhaseKnowledge {
  Knowledge now;   // of the phase that is open
  Knowledge last;  // of all phases before it
  // The same of arrivals from other blocks, which waits with the scope of the cluster learn.
  Knowledge far_now, far_last;
  Stamp init;
  int64_t observed = -1;  // the latest phase for whose end a thread has waited
};

// The latest wait of a thread at an mbarrier.
struct LastWait {
  enum How : uint8_t { kProper, kBeforeFirst, kAgain, kSkipping };
  How how = kProper;
  uint32_t barrier = 0;  // its offset
  const void* pc = nullptr;
};

// A copy into or out of shared memory, for reports.
struct KnownCopy {
  uint32_t offset, bytes, barrier;
  int64_t phase;  // of the barrier, when it was issued
  CopyText copy;
};

struct BlockRecord {
  Order order;
  SharedRecord shared;
  SharedClock cluster;  // of the first block of a cluster: told at its barrier, the last time
  std::unordered_map<uint64_t, Visit> visits;  // by others, by their block and thread
  DependencyWaits waits;
  std::unordered_map<uint32_t, PhaseKnowledge> phases;  // by the barrier's offset
  std::unordered_map<uint64_t, int64_t> consumed;       // phases, by barrier and thread
  std::vector<LastWait> waited;                         // by thread
  std::vector<RegistersInUse> registers;                // by thread; empty without wgmma
  std::map<uint32_t, KnownCopy> copies;                 // the latest at each offset
  // The last copy known to touch that offset.
  const KnownCopy* copy_at(uint32_t offset) const;
};

// A race of which the thread's next access says more: a store that changes nothing is none, and a
// read that is part of an update has another cause.
struct PendingRace {
  Race race;
  char before[16];
};

// When threads have waited for operations that they count.
class Ends {
 public:
  // The time of the wait for that operation; 0 if there is none yet.
  Epoch of(const Stamp& operation, bool wrote);
  std::unordered_map<uint64_t, Flights>& among(Actor actor) {
    return actor == Actor::kProduct ? products_ : stores_;
  }
  Flights& flights(Actor actor, uint32_t serial, uint32_t thread) {
    return among(actor)[uint64_t{serial} << 10 | thread];
  }
  const Flights* find(Actor actor, uint32_t serial, uint32_t thread);
  void clear() {
    stores_.clear();
    products_.clear();
  }

 private:
  std::unordered_map<uint64_t, Flights> stores_, products_;  // by block and thread
};

class LaunchRecord {
 public:
  void begin(const Launch& launch);
  void begin_block(const Block& block);
  void end_block(const Block& block);

  BlockRecord& of(const Block& block) { return *blocks_[block.slot]; }
  struct Began {
    const Grid* grid;
    uint64_t linear;
  };
  // The block with that serial.
  const Began& block_of(uint32_t serial) const { return begun_[serial - first_serial]; }

  // True if these two places have not been reported yet.
  bool is_news(const void* pc, const void* other);

  uint32_t first_serial = 1;  // of the launch's blocks, which are numbered as they begin
  Tensors tensors;
  HostMemory host;
  Dependencies dependencies;
  std::optional<PendingRace> pending;
  Waiting waiting;
  std::unordered_map<const char*, Publication> flags;  // by address
  Ends ends;
  std::set<uint32_t> blocks_without_fence;  // that have written a flag with nothing released

 private:
  std::vector<std::unique_ptr<BlockRecord>> blocks_;    // by slot
  std::vector<Began> begun_;                            // by serial
  std::unordered_map<const Grid*, SharedClock> ended_;  // what is known behind them
  std::set<std::pair<const void*, const void*>> told_;
};

// The launch that runs, or the last one.
LaunchRecord& record();

inline Order& order_of(const Block& block) { return record().of(block).order; }

// Reports the race that is still in question, if it is one; `next` is the access that follows.
void settle_pending(const Access* next = nullptr);

}  // namespace fictl_emu::check
