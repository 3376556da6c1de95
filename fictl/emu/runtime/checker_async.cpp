// Check mode's part in mbarriers and in operations of the engine.
#include <algorithm>

#include "checker.h"
#include "config.h"
#include "defects_hopper.h"
#include "launch_record.h"

namespace fictl_emu::check {

namespace {

PhaseKnowledge& phases_of(const Mbarrier& barrier) {
  return record().of(*barrier.block).phases[barrier.offset];
}

Flights& stores_of(const Thread& thread) {
  const uint32_t serial = order_of(*thread.block).serial();
  return record().ends.flights(Actor::kStore, serial, thread.linear);
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

Stamp stamp_of_now(const Thread& thread, const void* pc) {
  Stamp stamp{};
  stamp.pc = reinterpret_cast<uintptr_t>(pc);
  stamp.thread = thread.linear;
  stamp.block = order_of(*thread.block).serial();
  stamp.epoch = order_of(*thread.block).now(thread.linear);
  return stamp;
}

// How the thread has come by the end of the phase that is just over.
LastWait::How how_waited(const Thread& thread, const Mbarrier& barrier, bool at_once) {
  auto& consumed = record().of(*barrier.block).consumed;
  const auto [known, is_first] =
      consumed.emplace(uint64_t{barrier.offset} << 10 | thread.linear, INT64_MIN);
  const int64_t phase = int64_t{barrier.phase} - 1, before = known->second;
  known->second = phase;
  if (!at_once) return LastWait::kProper;
  if (phase == before) return LastWait::kAgain;
  if (phase < 0) return LastWait::kBeforeFirst;
  return !is_first && phase > before + 1 ? LastWait::kSkipping : LastWait::kProper;
}

// The copy engine must have heard of the barrier's initialisation.
void require_known_barrier(const Thread& thread, const Block& block, uint32_t barrier,
                           const void* pc) {
  const auto phases = record().of(block).phases.find(barrier);
  const Order& order = order_of(*thread.block);
  if (phases == record().of(block).phases.end()) return;
  const Stamp& init = phases->second.init;
  if (order.knows(thread.linear, init, Knows::kBarrierProxy)) return;
  if (!order.knows(thread.linear, init, Knows::kSharedProxy)) report_unfenced_barrier(init, pc);
}

// The copy before has been waited for by somebody.
void require_observed(const Block& block, const KnownCopy& before, const CopyText& copy) {
  const auto phases = record().of(block).phases.find(before.barrier);
  const bool known = phases != record().of(block).phases.end();
  if (known && phases->second.observed < before.phase) report_refilled(before, copy);
}

}  // namespace

void barrier_begins(const Mbarrier& barrier) {
  if (!enabled) return;
  phases_of(barrier) = {};
  phases_of(barrier).init = stamp_of_now(*current(), barrier.pc);
}

void barrier_arrived(Thread& thread, const Mbarrier& barrier, int how) {
  if (!enabled) return;
  settle_pending();
  Order& order = order_of(*thread.block);
  PhaseKnowledge& phases = phases_of(barrier);
  const bool is_far = thread.block != barrier.block;
  const bool tells = (how & FICTL_EMU_RELAXED) == 0 && (!is_far || (how & FICTL_EMU_CLUSTER) != 0);
  if (!tells) {
    phases.now.join(order.told_of_products(thread.linear));
    return;
  }
  const Knowledge told = order.told(thread.linear);
  if (is_far) {
    phases.now.join(order.told_of_products(thread.linear));
    phases.far_now.join(told);
  } else {
    phases.now.join(told);
  }
}

void barrier_advanced(const Mbarrier& barrier) {
  if (!enabled) return;
  PhaseKnowledge& phases = phases_of(barrier);
  phases.last.join(phases.now);
  phases.far_last.join(phases.far_now);
  phases.now = phases.far_now = {};
}

void barrier_waited(Thread& thread, const Mbarrier& barrier, int how, bool at_once) {
  if (!enabled) return;
  settle_pending();
  record().of(*thread.block).waited[thread.linear] = {how_waited(thread, barrier, at_once),
                                                      barrier.offset};
  PhaseKnowledge& phases = phases_of(barrier);
  phases.observed = std::max(phases.observed, int64_t{barrier.phase} - 1);
  if ((how & FICTL_EMU_RELAXED) != 0) return;
  Order& order = order_of(*thread.block);
  order.learn(thread.linear, phases.last);
  if ((how & FICTL_EMU_CLUSTER) != 0) order.learn(thread.linear, phases.far_last);
}

Ticket async_issued(Thread& thread, bool in_group, const void* pc) {
  if (!enabled) return {};
  settle_pending();
  Order& order = order_of(*thread.block);
  const Epoch now = order.now(thread.linear);
  if (in_group) stores_of(thread).issue(now, pc);
  return {now, in_group, std::make_shared<const Knowledge>(order.told(thread.linear))};
}

void bulk_committed(Thread& thread) {
  if (!enabled) return;
  stores_of(thread).commit();
  order_of(*thread.block).step(thread.linear);
}

void bulk_waited(Thread& thread, uint32_t pending, bool reads) {
  if (!enabled) return;
  settle_pending();
  stores_of(thread).wait(pending, order_of(*thread.block).now(thread.linear), reads);
}

void async_access(const Ticket& ticket, AsyncWay way, const void* address, size_t bytes,
                  const void* pc) {
  if (!enabled) return;
  const Strength strength = way == AsyncWay::kUpdates ? Strength::kAtomic : Strength::kPlain;
  examine({static_cast<const char*>(address), bytes, way_of(way), strength, pc,
           ticket.in_group ? Actor::kStore : Actor::kLoad, ticket.epoch});
}

void async_completed(const Ticket& ticket, const Mbarrier& barrier) {
  if (enabled) phases_of(barrier).now.join(*ticket.known);
}

void copy_described(const Block& block, uint32_t offset, uint32_t bytes, uint32_t barrier,
                    const CopyText& copy) {
  if (!enabled) return;
  auto& copies = record().of(block).copies;
  if (barrier == kNoBarrier) {
    copies[offset] = {offset, bytes, barrier, 0, copy};
    return;
  }
  require_known_barrier(*current(), block, barrier, copy.pc);
  const auto before = copies.find(offset);
  if (before != copies.end() && before->second.barrier == barrier) {
    require_observed(block, before->second, copy);
  }
  // Another block of the cluster may not have initialised it yet: the copy's end reports that.
  const auto known = block.mbarriers.find(barrier);
  if (known == block.mbarriers.end()) return;
  copies[offset] = {offset, bytes, barrier, known->second.phase, copy};
}

void box_is_outside(const CopyText& copy) {
  if (enabled && config.strict != 0) report_outside(copy);
}

void proxy_fence(Thread& thread, int kind) {
  if (!enabled || kind == FICTL_EMU_PROXY_MAPS) return;
  settle_pending();
  Order& order = order_of(*thread.block);
  if (kind == FICTL_EMU_PROXY_ALL) {
    order.cross(thread.linear, {Knows::kSharedProxy, Knows::kGlobalProxy, Knows::kBarrierProxy});
  } else if (kind == FICTL_EMU_PROXY_SHARED) {
    order.cross(thread.linear, {Knows::kSharedProxy, Knows::kBarrierProxy});
  } else if (kind == FICTL_EMU_PROXY_GLOBAL) {
    order.cross(thread.linear, {Knows::kGlobalProxy});
  } else {
    order.cross(thread.linear, {Knows::kBarrierProxy});
  }
}

}  // namespace fictl_emu::check
