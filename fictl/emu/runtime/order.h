// Happens-before: which accesses of others a thread of one block is ordered after.
//
// Cheap where it is common. A barrier of the whole block gives all of its threads one new epoch, so
// that everything older is known by one comparison; in a warp each lane has a row of what it knows
// of the other lanes; only named barriers and fences need clocks.
#pragma once

#include <initializer_list>
#include <vector>

#include "clock.h"
#include "shadow.h"

namespace fictl_emu::check {

// Knowledge that an atomic or volatile write passes to the threads that read it.
struct Publication {
  uint32_t block = 0;
  SharedClock to_block;
  SharedClock to_device;
};

// Knowledge of a thread beyond its warp and the barriers of its block.
struct Knowledge {
  SharedClock seen;
  SharedClock released[2];  // at the last fence: to the block, to the device
  void join(const Knowledge& other);
};

class Order {
 public:
  void begin(uint32_t serial, size_t threads);

  uint32_t serial() const { return serial_; }
  Epoch now(uint32_t thread) const { return now_[thread]; }

  // True if `thread` is ordered after that access.
  bool follows(uint32_t thread, const Stamp& access) const {
    if (access.block == serial_) {
      if (access.epoch < start_ || access.thread == thread) return true;
      const bool same_warp = (access.thread ^ thread) < 32;
      if (same_warp && rows_[thread * 32 + access.thread % 32] > access.epoch) return true;
    }
    return any_clocks_ && follows_by_clock(thread, access);
  }

  // True if `thread` knows that those are behind that access of another thread or its own.
  bool knows(uint32_t thread, const Stamp& access, Knows who) const;

  // True if `thread` has heard of anything that block has done.
  bool has_heard_of(uint32_t thread, uint32_t block) const;

  void block_meets();
  void warp_meets(uint32_t warp, uint32_t lanes);
  // A thread has come to a named barrier; false if nothing orders it after those that were there
  // the last time, so that they might as well meet.
  bool comes(uint32_t thread, int barrier);
  // At a named barrier: a thread that goes on at once has told what it knew when it came.
  void arrives(uint32_t thread, int barrier);
  void some_meet(int barrier, const std::vector<uint32_t>& waiting);
  // At the barrier of its cluster a thread tells what it has done, or not.
  void cluster_arrives(uint32_t thread, bool release);
  // All have come: returns what those of this block have told.
  SharedClock cluster_meets();
  void learn(uint32_t thread, const SharedClock& clock);
  // Known to all of the block.
  const SharedClock& seen() const { return block_.seen; }
  // Knowledge behind the end of the block, for the next kernel of its rank.
  SharedClock at_end() const;
  // After block_meets() of every block: `all` of them. Before any thread runs: what came before.
  void grid_meets(const SharedClock& all);
  Epoch start() const { return start_; }

  // All that the thread knows and has done until now, for another to learn.
  Knowledge told(uint32_t thread);
  // What it knows of products that have ended, which every arrival tells.
  Knowledge told_of_products(uint32_t thread) const;
  void learn(uint32_t thread, const Knowledge& news);

  void fence(uint32_t thread, int scope);
  // A fence of proxies: what the thread knows and has done, those know as well.
  void cross(uint32_t thread, std::initializer_list<Knows> to);
  // What the thread does from now on has another epoch.
  void step(uint32_t thread) { advance(thread); }
  // All lanes of the warp know that products of its first thread have ended at that time.
  void products_end(uint32_t warp, Epoch at);
  Publication publish(uint32_t thread) const;
  void acquire(uint32_t thread, const Publication& publication);

 private:
  // Arrivals at a named barrier, with their times: of the current use and of the last one.
  struct Arrival {
    uint32_t thread;
    Epoch epoch;
  };
  struct Comers {
    std::vector<Arrival> now, last;
    void meet() {
      last.swap(now);
      now.clear();
    }
  };

  bool follows_by_clock(uint32_t thread, const Stamp& access) const;
  const SharedClock& released(uint32_t thread, int to) const {
    const SharedClock& own = own_[thread].released[to];
    return own != nullptr ? own : block_.released[to];
  }
  // Everything that these threads know, themselves included. What they do from now on is not part
  // of it.
  SharedClock snapshot(const uint32_t* threads, size_t count);
  void advance(uint32_t thread);

  uint32_t serial_ = 0;
  Epoch start_ = 0;   // everything of the block before it is known to all of the block
  Epoch latest_ = 0;  // of any thread
  std::vector<Epoch> now_;
  std::vector<Epoch> rows_;  // 32 for each thread
  bool any_clocks_ = false;
  Knowledge block_;             // of all threads
  std::vector<Knowledge> own_;  // beyond that
  Knowledge arrived_[16];       // by named barrier
  Comers comers_[16];
  // At the barrier of the cluster: the epoch of the first arrival, which those that come early
  // enough share, and all that tell.
  Epoch cluster_epoch_ = 0;
  bool all_tell_ = true;
  std::vector<Arrival> tellers_;
  SharedClock told_;
  std::vector<Epoch> scratch_;
};

}  // namespace fictl_emu::check
