// Check mode: what the rest of the runtime tells the checker. The accesses themselves come through
// the hooks that -fsanitize=thread,alignment,bounds puts into check-mode modules; all of this
// returns at once where the launch that runs is not of such a module.
#pragma once

#include <memory>
#include <string>

#include "state.h"

namespace fictl_emu {
class Report;
}

namespace fictl_emu::ptx {
struct Wgmma;
}

namespace fictl_emu::check {

struct Knowledge;

// True if the running launch is of a check-mode module and checking is on.
extern bool enabled;

// A check-mode module has been loaded; `code` is an address in it.
void module_loaded(const void* code);

void launch_begins(Launch& launch);
void launch_ends(Launch& launch);
void block_begins(Block& block);
void block_ends(Block& block);

// All living threads of the block have met at a barrier.
void block_met(Block& block);
// True if a thread that arrives at a named barrier is ordered after the threads of its last use. If
// not, the two groups could meet.
bool may_arrive(const Thread& thread, int barrier);
// A thread has come to a named barrier and goes on at once.
void arrived(Thread& thread, const Barrier& barrier);
// Those that wait at a named barrier go on: they have heard of one another, and of those that have
// arrived.
void some_met(Block& block, const Barrier& barrier);
void warp_met(Block& block, uint32_t warp, uint32_t lanes, bool orders_memory);
void grid_met(Team& team, const Grid& grid);
// At barrier.cluster: a thread has arrived, all have, a thread goes on.
void cluster_arrived(Thread& thread, bool release);
void cluster_met(Cluster& cluster);
void cluster_waited(Thread& thread);
void fence(Thread& thread, int scope);

// wgmma.fence; a thread has come to a wgmma, which reads its operands from shared memory and owns
// its registers; the warpgroup commits a group, or has waited for all but the newest `pending`.
void product_fence(const Thread& thread);
void product_issued(const Thread& thread, const ptx::Wgmma& wgmma, const void* pc);
void products_committed(const Block& block, const Warpgroup& group);
void products_waited(const Block& block, const Warpgroup& group, uint32_t pending);
// griddepcontrol, and calls of the host that wait for all kernels.
void dependencies_waited(Thread& thread);
void dependents_launched(Thread& thread);
void host_waited();

// A cp.async may write `bytes` at any time from its issue to its wait.
void copy_issued(Thread& thread, const Copy& copy);
void copy_landed(Thread& thread, const Copy& copy);

// ---- mbarriers: who arrives in a phase is known to those that have waited for its end ----

void barrier_begins(const Mbarrier& barrier);
// `how` is made of FictlEmuMbarrierUse.
void barrier_arrived(Thread& thread, const Mbarrier& barrier, int how);
void barrier_advanced(const Mbarrier& barrier);
// `at_once`: the thread has not slept.
void barrier_waited(Thread& thread, const Mbarrier& barrier, int how, bool at_once);

// ---- operations of the engine ----

// The knowledge of the issuing thread, and its time, when it issued an operation.
struct Ticket {
  uint32_t epoch = 0;
  bool in_group = false;  // of bulk stores; else an mbarrier counts it
  std::shared_ptr<const Knowledge> known;
};
Ticket async_issued(Thread& thread, bool in_group, const void* pc);
void bulk_committed(Thread& thread);
// `reads`: until the sources of all but the newest groups may change; else until all is written.
void bulk_waited(Thread& thread, uint32_t pending, bool reads);

enum class AsyncWay : uint8_t { kReads, kWillWrite, kHasWritten, kUpdates };
// An operation's access to memory, as of its issue. Of what it writes it says so twice: when it is
// issued, and when it completes. The issuing thread is the running one.
void async_access(const Ticket& ticket, AsyncWay way, const void* address, size_t bytes,
                  const void* pc);
// It counts at the barrier: those that wait for the phase know of its accesses.
void async_completed(const Ticket& ticket, const Mbarrier& barrier);

// For reports, a copy into or out of shared memory: its memory there, the offset of the mbarrier
// that counts it, or kNoBarrier, and the base of the tensor of its map, or null.
struct CopyText {
  std::string text;
  const void* base;
  const void* pc;
};
constexpr uint32_t kNoBarrier = ~uint32_t{0};
void copy_described(const Block& block, uint32_t offset, uint32_t bytes, uint32_t barrier,
                    const CopyText& copy);
// Adds the latest copy that counts at the barrier.
void describe_copy(Report& report, const Mbarrier& barrier);
// A copy of a box that has nothing of the tensor.
void box_is_outside(const CopyText& copy);

// fence.proxy.async and its relatives, by a number of FictlEmuProxyFence.
void proxy_fence(Thread& thread, int kind);

}  // namespace fictl_emu::check
