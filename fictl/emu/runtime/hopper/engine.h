// Operations that run beside the threads that issue them: bulk copies, wgmma, st.async, and
// arrivals at an mbarrier that follow a cp.async.
//
// A GPU may end such an operation at any time between its issue and the wait that covers it. Three
// schedules show what a kernel gets wrong about that:
//   late (forward)    it ends where a wait needs it, or when no thread can run without it;
//   early (reverse)   it ends when it is issued;
//   random            it ends at a random switch of threads, in random order among all others.
// The destination of an operation that does not end at once holds NaN until it does.
//
// An instruction derives from Operation, and calls issue(). A wait that counts groups calls
// finish() for the operations that it waits for. A wait at an mbarrier sleeps: the scheduler
// completes operations until one of them has ended the phase.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fictl_emu {

struct Block;
struct Team;
struct Thread;

// The instruction that waits for groups of operations by their number.
enum class Counted : uint8_t { kByNobody, kAsBulkGroup, kAsProduct };

class Operation {
 public:
  // `pc` is where in the kernel the thread has issued it.
  Operation(Thread& thread, const void* pc) : thread(thread), pc(pc) {}
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // Does all of it. It runs as the issuing thread: current() is `thread`, which may have ended.
  virtual void complete() = 0;
  // Reads its source, which may change from now on.
  virtual void read_source() {}
  // Makes its results unusable until it completes; not called where it completes at issue.
  virtual void poison() {}
  // True if a thread may sleep until it completes, as at an mbarrier: where nothing else can run
  // such operations complete before those that some thread counts.
  virtual bool is_awaited() const { return false; }
  // The operation in the words of a report: "a tensor load of box {64, 128}".
  virtual std::string text() const = 0;
  // True if its destination is shared memory of the block.
  virtual bool writes_to(const Block&) const { return false; }

  Thread& thread;
  const void* const pc;
  // Operations of one sequence complete in the order of their issue; null: of none.
  const void* sequence = nullptr;
  // The group of its thread or warpgroup that it belongs to.
  Counted counted = Counted::kByNobody;
  uint32_t group = 0;
};

// The outstanding operations of a team, oldest first.
class Engine {
 public:
  explicit Engine(Team& team) : team_(team) {}

  void issue(std::unique_ptr<Operation> operation);

  bool empty() const { return outstanding_.empty(); }
  const std::vector<std::unique_ptr<Operation>>& outstanding() const { return outstanding_; }

  // Completes those that `chosen` says, oldest first, and each one's elders of its sequence.
  template <class Choice>
  void finish(Choice chosen) {
    for (size_t i = 0; i < outstanding_.size();) {
      if (chosen(static_cast<const Operation&>(*outstanding_[i]))) {
        complete(first_of_sequence(i));
        i = 0;
      } else {
        ++i;
      }
    }
  }

  // No thread can run: completes one operation; false if there is none.
  bool complete_one();
  // Threads switch while operations are outstanding: in the random schedule one may complete.
  void at_switch();
  // All threads of the block have ended.
  void block_ends(const Block& block);
  void clear() { outstanding_.clear(); }

 private:
  // The oldest outstanding operation in the sequence of the i-th.
  size_t first_of_sequence(size_t i) const;
  void complete(size_t i);

  Team& team_;
  std::vector<std::unique_ptr<Operation>> outstanding_;
};

}  // namespace fictl_emu
