#include "checker.h"

#include <dlfcn.h>

#include <set>

#include "config.h"
#include "hopper/wgmma.h"
#include "launch_record.h"
#include "system.h"

namespace fictl_emu::check {

bool enabled = false;

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
  return checked_modules.count(module_of(reinterpret_cast<const void*>(launch.asked->body))) != 0;
}

Order& order_of(const Block& block) { return record().of(block).order; }

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
}

void block_begins(Block& block) {
  if (enabled) record().begin_block(block);
}

void block_ends(Block&) {
  if (enabled) settle_pending();
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

void grid_met(Team& team) {
  if (!enabled) return;
  settle_pending();
  auto all = std::make_shared<Clock>();
  for (const Block* block : team.blocks) {
    Order& order = order_of(*block);
    order.block_meets();
    all->learn(order.serial(), Clock::kAllThreads, order.start());
  }
  for (const Block* block : team.blocks) order_of(*block).grid_meets(all);
}

void fence(Thread& thread, int scope) {
  if (!enabled) return;
  settle_pending();
  order_of(*thread.block).fence(thread.linear, scope);
}

// The first lane of each warp stands for it.
void wgmma_issued(const Thread& thread, const ptx::Wgmma& wgmma, const void* pc) {
  if (!enabled || thread.lane != 0) return;
  for (const char* chunk : operands_of(wgmma, thread)) {
    examine({chunk, 16, Way::kRead, Strength::kPlain, pc});
  }
}

void copy_issued(Thread&, const Copy& copy) {
  if (!enabled) return;
  if (copy.source_bytes > 0) {
    examine(
        {copy.from, static_cast<size_t>(copy.source_bytes), Way::kRead, Strength::kPlain, copy.pc});
  }
  examine({copy.to, static_cast<size_t>(copy.bytes), Way::kCopyIssued, Strength::kPlain, copy.pc});
}

void copy_landed(Thread&, const Copy& copy) {
  if (!enabled) return;
  examine({copy.to, static_cast<size_t>(copy.bytes), Way::kCopyLanded, Strength::kPlain, copy.pc});
}

}  // namespace fictl_emu::check
