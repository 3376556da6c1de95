// cp.async.mbarrier.arrive: an arrival at an mbarrier when the copies of a thread have landed.
#include "checker.h"
#include "engine.h"
#include "mbarrier.h"
#include "memory.h"
#include "scheduler.h"

namespace fictl_emu {

namespace {

class CopyArrival : public Operation {
 public:
  CopyArrival(Thread& thread, const void* pc, const Mbarrier& barrier)
      : Operation(thread, pc),
        barrier_(barrier.block->shared.base + barrier.offset),
        copies_(thread.copies_issued) {
    sequence = &thread;
  }
  bool is_awaited() const override { return true; }
  void complete() override {
    land_copies(thread, [this](const Copy& copy) { return copy.number < copies_; });
    Mbarrier& barrier = mbarrier_at(barrier_, "cp.async.mbarrier.arrive", pc);
    check::async_completed(check::async_issued(thread, false, pc), barrier);
    arrive(barrier, 1, pc);
  }
  std::string text() const override { return "an arrival behind cp.async"; }

 private:
  const char* barrier_;
  int copies_;  // that come before it
};

}  // namespace

}  // namespace fictl_emu

extern "C" void fictl_emu_copy_arrive(void* address, int counts) {
  using namespace fictl_emu;
  const void* pc = __builtin_return_address(0);
  Mbarrier& barrier = mbarrier_at(address, "cp.async.mbarrier.arrive", pc);
  if (counts != 0) expect_arrivals(barrier, 1);
  team->engine->issue(std::make_unique<CopyArrival>(*current(), pc, barrier));
}
