#include "checker.h"

#include <dlfcn.h>

#include <algorithm>
#include <set>

#include "config.h"
#include "defects.h"
#include "defects_hopper.h"
#include "launch_record.h"
#include "system.h"

namespace fictl_emu::check {

bool enabled = false;
size_t private_stack_bytes = 0;

namespace {

Mutex modules_mutex;
std::set<const void*> checked_modules;  // by their first address

const void* module_of(const void* code) {
  Dl_info info;
  return dladdr(code, &info) != 0 ? info.dli_fbase : nullptr;
}

bool is_checked(const Launch& launch) {
  const Lock lock(modules_mutex);
  if (checked_modules.empty()) return false;
  const void* body = reinterpret_cast<const void*>(launch.grids.front().asked.body);
  return checked_modules.count(module_of(body)) != 0;
}

// True if some thread of the block has waited for that access to its shared memory.
bool is_over(const Block& block, const Visit& visit) {
  const Order& order = record().of(block).order;
  return std::any_of(block.threads.begin(), block.threads.end(), [&](const Thread& thread) {
    return thread.cluster_waits > visit.cluster_arrivals ||
           order.follows(thread.linear, visit.stamp);
  });
}

void look_for_unread_stores(const Thread& thread) {
  const uint32_t serial = order_of(*thread.block).serial();
  const Flights* stores = record().ends.find(Actor::kStore, serial, thread.linear);
  const void* pc = stores == nullptr ? nullptr : stores->unread();
  if (pc != nullptr) report_outlived(thread, pc);
}

}  // namespace

void module_loaded(const void* code) {
  const Lock lock(modules_mutex);
  checked_modules.insert(module_of(code));
}

void launch_begins(Launch& launch) {
  enabled = config.check != 0 && is_checked(launch);
  if (enabled) record().begin(launch);
}

void launch_ends(Launch&) {
  if (!enabled) return;
  // A store that is in question now has not happened: the kernel was stopped.
  record().pending.reset();
  record().waiting.launch_ends();
  enabled = false;
  private_stack_bytes = 0;
}

void block_begins(Block& block) {
  if (!enabled) return;
  record().begin_block(block);
  // Those of the blocks before are over, and with them their registers.
  if (block.team->blocks.size() == 1) private_stack_bytes = stacks->bytes();
}

void block_ends(Block& block) {
  if (!enabled) return;
  settle_pending();
  for (const auto& [who, visit] : record().of(block).visits) {
    if (!is_over(block, visit)) report_left_early(block, visit.stamp);
  }
  for (const Thread& thread : block.threads) look_for_unread_stores(thread);
  record().end_block(block);
}

void block_met(Block& block) {
  if (!enabled) return;
  settle_pending();
  order_of(block).block_meets();
}

bool may_arrive(const Thread& thread, int barrier) {
  if (!enabled) return true;
  settle_pending();
  return order_of(*thread.block).comes(thread.linear, barrier);
}

void arrived(Thread& thread, const Barrier& barrier) {
  if (!enabled) return;
  settle_pending();
  const auto number = static_cast<int>(&barrier - thread.block->barriers);
  order_of(*thread.block).arrives(thread.linear, number);
}

void some_met(Block& block, const Barrier& barrier) {
  if (!enabled) return;
  settle_pending();
  std::vector<uint32_t> waiting;
  for (const Thread* thread : barrier.waiting) waiting.push_back(thread->linear);
  order_of(block).some_meet(static_cast<int>(&barrier - block.barriers), waiting);
}

void warp_met(Block& block, uint32_t warp, uint32_t lanes, bool orders_memory) {
  if (!enabled || !orders_memory) return;
  settle_pending();
  order_of(block).warp_meets(warp, lanes);
}

void grid_met(Team& team, const Grid& grid) {
  if (!enabled) return;
  settle_pending();
  auto met = std::make_shared<Clock>();
  SharedClock before;
  for (const Block* block : team.blocks) {
    if (block->grid != &grid) continue;
    Order& order = order_of(*block);
    order.block_meets();
    before = joined(before, order.seen());
    met->learn(order.serial(), Clock::kAllThreads, order.start());
  }
  const SharedClock all = joined(before, met);
  for (const Block* block : team.blocks) {
    if (block->grid == &grid) order_of(*block).grid_meets(all);
  }
}

void cluster_arrived(Thread& thread, bool release) {
  if (!enabled) return;
  settle_pending();
  order_of(*thread.block).cluster_arrives(thread.linear, release);
}

void cluster_met(Cluster& cluster) {
  if (!enabled) return;
  SharedClock all;
  for (const Block* block : cluster.blocks) all = joined(all, order_of(*block).cluster_meets());
  record().of(*cluster.blocks.front()).cluster = all;
}

void cluster_waited(Thread& thread) {
  if (!enabled) return;
  settle_pending();
  const Block& first = *thread.block->cluster->blocks.front();
  order_of(*thread.block).learn(thread.linear, record().of(first).cluster);
}

void fence(Thread& thread, int scope) {
  if (!enabled) return;
  settle_pending();
  order_of(*thread.block).fence(thread.linear, scope);
}

void dependencies_waited(Thread& thread) {
  if (!enabled) return;
  settle_pending();
  record().of(*thread.block).waits.waits(thread, order_of(*thread.block));
}

void dependents_launched(Thread& thread) {
  if (enabled) record().of(*thread.block).waits.triggers();
}

void host_waited() { record().dependencies.forget(); }

void copy_issued(Thread&, const Copy& copy) {
  if (!enabled) return;
  if (copy.source_bytes > 0) {
    examine(
        {copy.from, static_cast<size_t>(copy.source_bytes), Way::kRead, Strength::kPlain, copy.pc});
  }
  examine({copy.to, static_cast<size_t>(copy.bytes), Way::kCopyIssued, Strength::kPlain, copy.pc,
           Actor::kCopy});
}

void copy_landed(Thread&, const Copy& copy) {
  if (!enabled) return;
  examine({copy.to, static_cast<size_t>(copy.bytes), Way::kCopyLanded, Strength::kPlain, copy.pc,
           Actor::kCopy});
}

}  // namespace fictl_emu::check
