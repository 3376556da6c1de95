// A sparse vector clock: what a thread knows of threads outside of its warp and block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fictl_emu::check {

// A moment in the life of a thread. It moves on whenever others may learn what came before.
using Epoch = uint32_t;

// Who is known to be behind what a thread did: threads; asynchronous operations on shared and on
// global memory, and on mbarriers, behind a fence of proxies; or those that wgmma makes room for.
enum class Knows : uint8_t { kThreads, kSharedProxy, kGlobalProxy, kBarrierProxy, kProducts };

// By thread, the epoch before which everything it did is known.
class Clock {
 public:
  static constexpr uint32_t kAllThreads = 0x7FF;  // beyond the last thread that a block can have

  void learn(uint32_t block, uint32_t thread, Epoch until, Knows who = Knows::kThreads);
  bool knows(uint32_t block, uint32_t thread, Epoch epoch, Knows who = Knows::kThreads) const;
  // What is known of threads, as knowledge of another kind; and what is of one kind alone.
  Clock as(Knows who) const;
  Clock only(Knows who) const;
  bool empty() const { return entries_.empty(); }
  // True if it knows anything of that block.
  bool mentions(uint32_t block) const;
  bool includes(const Clock& other) const;
  void join(const Clock& other);

 private:
  struct Entry {
    uint64_t key;
    Epoch until;
  };
  static constexpr int kKindBit = 60;
  static uint64_t key_of(uint32_t block, uint32_t thread, Knows who = Knows::kThreads) {
    return static_cast<uint64_t>(who) << kKindBit | uint64_t{block} << 11 | thread;
  }
  Epoch until(uint64_t key) const;

  std::vector<Entry> entries_;  // sorted by key
};

// Many threads learn the same at once; null knows nothing.
using SharedClock = std::shared_ptr<const Clock>;
SharedClock joined(const SharedClock& a, const SharedClock& b);

}  // namespace fictl_emu::check
