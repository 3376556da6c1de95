// Check mode's part in mbarriers and in operations of the engine.
#include "checker.h"
#include "launch_record.h"

namespace fictl_emu::check {

namespace {

Order& order_of(const Block& block) { return record().of(block).order; }

PhaseKnowledge& phases_of(const Mbarrier& barrier) {
  return record().of(*barrier.block).phases[barrier.offset];
}

Way way_of(AsyncWay way) {
  switch (way) {
    case AsyncWay::kReads:
      return Way::kRead;
    case AsyncWay::kWillWrite:
      return Way::kCopyIssued;
    case AsyncWay::kHasWritten:
      return Way::kCopyLanded;
    case AsyncWay::kUpdates:
      return Way::kUpdate;
  }
  return Way::kRead;
}

}  // namespace

void barrier_begins(const Mbarrier& barrier) {
  if (enabled) phases_of(barrier) = {};
}

void barrier_arrived(Thread& thread, const Mbarrier& barrier, int how) {
  if (!enabled || (how & FICTL_EMU_RELAXED) != 0) return;
  settle_pending();
  phases_of(barrier).now.join(order_of(*thread.block).told(thread.linear));
}

void barrier_advanced(const Mbarrier& barrier) {
  if (!enabled) return;
  PhaseKnowledge& phases = phases_of(barrier);
  phases.last.join(phases.now);
  phases.now = {};
}

void barrier_waited(Thread& thread, const Mbarrier& barrier, int how) {
  if (!enabled || (how & FICTL_EMU_RELAXED) != 0) return;
  settle_pending();
  order_of(*thread.block).learn(thread.linear, phases_of(barrier).last);
}

Ticket async_issued(Thread& thread) {
  if (!enabled) return {};
  settle_pending();
  Order& order = order_of(*thread.block);
  const Epoch now = order.now(thread.linear);
  return {now, std::make_shared<const Knowledge>(order.told(thread.linear))};
}

void async_access(const Ticket& ticket, AsyncWay way, const void* address, size_t bytes,
                  const void* pc) {
  if (!enabled) return;
  const Strength strength = way == AsyncWay::kUpdates ? Strength::kAtomic : Strength::kPlain;
  examine({static_cast<const char*>(address), bytes, way_of(way), strength, pc, ticket.epoch});
}

void async_completed(const Ticket& ticket, const Mbarrier& barrier) {
  if (enabled) phases_of(barrier).now.join(*ticket.known);
}

void proxy_fence(Thread&, int) {}

}  // namespace fictl_emu::check
