// Check mode's part in wgmma: operands that are read until the wait, and registers.
#include <algorithm>

#include "checker.h"
#include "hopper/wgmma.h"
#include "launch_record.h"

namespace fictl_emu::check {

namespace {

RegistersInUse& registers_of(const Thread& thread) {
  std::vector<RegistersInUse>& all = record().of(*thread.block).registers;
  if (all.empty()) all.resize(thread.block->threads.size());
  return all[thread.linear];
}

Flights& flights_of(const Block& block, uint32_t thread) {
  return record().ends.flights(Actor::kProduct, order_of(block).serial(), thread);
}

// visit(warp) for those of the group.
template <class Visit>
void each_warp(const Warpgroup& group, Visit visit) {
  for (uint32_t i = 0; i < Warpgroup::kWarps; ++i) visit(group.first / 32 + i);
}

}  // namespace

void product_fence(const Thread& thread) {
  if (enabled) registers_of(thread).fence();
}

// The first lane of each warp stands for it where operands are read.
void product_issued(const Thread& thread, const ptx::Wgmma& wgmma, const void* pc) {
  if (!enabled) return;
  private_stack_bytes = 0;
  registers_of(thread).issue(wgmma, pc);
  if (thread.lane != 0) return;
  const Epoch now = order_of(*thread.block).now(thread.linear);
  flights_of(*thread.block, thread.linear).issue(now, pc);
  for (const char* chunk : operands_of(wgmma, thread)) {
    examine({chunk, 16, Way::kRead, Strength::kPlain, pc, Actor::kProduct});
  }
}

void products_committed(const Block& block, const Warpgroup& group) {
  if (!enabled) return;
  for (uint32_t i = 0; i < group.threads; ++i) {
    registers_of(block.threads[group.first + i]).commit();
  }
  each_warp(group, [&](uint32_t warp) {
    flights_of(block, warp * 32).commit();
    order_of(block).step(warp * 32);
  });
}

void products_waited(const Block& block, const Warpgroup& group, uint32_t pending) {
  if (!enabled) return;
  settle_pending();
  for (uint32_t i = 0; i < group.threads; ++i) {
    registers_of(block.threads[group.first + i]).wait(pending);
  }
  each_warp(group, [&](uint32_t warp) {
    Order& order = order_of(block);
    const Epoch now = order.now(warp * 32);
    flights_of(block, warp * 32).wait(pending, now, false);
    order.products_end(warp, now);
  });
}

void touch_registers(const Access& access) {
  const Thread& thread = *current();
  std::vector<RegistersInUse>& all = record().of(*thread.block).registers;
  if (!all.empty()) all[thread.linear].touch(access);
}

}  // namespace fictl_emu::check
