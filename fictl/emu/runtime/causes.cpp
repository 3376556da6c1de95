#include "causes.h"

#include "defects_hopper.h"
#include "hopper/peers.h"
#include "launch_record.h"

namespace fictl_emu::check {

namespace {

// One of the two is an operation of the engine.
std::string of_bulk(const Race& race) {
  const bool copy_wrote = race.rival.is_bulk() && race.rival_wrote;
  if (!race.thread->block->shared.contains(race.access.address)) {
    if (!copy_wrote) return "nothing orders the threads that share this memory before the copy";
    return "cp.async.bulk.wait_group (without .read) is missing between the bulk store and this "
           "access, or the thread that has committed the store has not told this one";
  }
  if (race.access.way == Way::kCopyIssued) {
    return "the copy refills a stage that is still in use: a thread has not arrived at the "
           "mbarrier "
           "for empty stages behind its last access, or the producer has not waited for it";
  }
  if (copy_wrote) {
    return "the wait for the mbarrier that counts this copy is missing, or it is for another stage "
           "or parity";
  }
  if (race.access.is_bulk()) {
    return "the tile is stored before all threads have written it: each writer needs "
           "fence.proxy.async, and then a barrier with the thread that issues the store";
  }
  return "the tile is written again while a bulk store may read it: cp.async.bulk.wait_group.read "
         "by the thread that has committed the store, and then a barrier";
}

std::string in_flight(const Access& access) {
  if (access.reads()) {
    return "cp.async.wait_group (or wait_all) is missing before this read, or it leaves the group "
           "of this copy pending";
  }
  return "the memory is written while a cp.async to it is under way: wait for the copy first";
}

// Where the tensors of two arguments share the memory, no barrier helps; empty if none do.
std::string overlap(const Race& race) {
  const auto sharing = record().tensors.sharing(race.access.address, race.access.bytes);
  if (sharing.size() < 2) return "";
  const Tensor &one = *sharing[0], &other = *sharing[1];
  const bool both_write = race.access.writes() && race.rival_wrote;
  if (!one.writable() || (both_write && !other.writable())) return "";
  const bool same = one.begin() == other.begin() && one.bytes() == other.bytes();
  return "the tensors '" + one.name() + "' and '" + other.name() +
         (same ? "' are the same memory" : "' overlap in memory") +
         ", so that threads meet there which own different elements: pass memory of their own, or "
         "have the op refuse such a call";
}

std::string one_is_atomic() {
  return "one of the two is atomic, the other is not: atomics are safe among themselves only, so "
         "make "
         "both atomic, or put a barrier between them";
}

std::string no_owner(const char* who) {
  return std::string(who) +
         " write the same memory: each must own its elements, or use atomics, or be ordered by a "
         "barrier";
}

std::string between_blocks(const Race& race) {
  if (record().blocks_without_fence.count(race.rival.block) != 0) {
    return "a flag or a counter was written without __threadfence() before it: what its writer "
           "wrote before need not be visible yet";
  }
  if (record().block_of(race.rival.block).grid->rank != race.thread->block->grid->rank) {
    return "nothing orders ranks but flags: a release to the system behind the data, and an "
           "acquire of it before them";
  }
  if (race.updates || (race.access.writes() && race.rival_wrote))
    return "two blocks write the same memory: each must own its elements, or use atomics";
  return "nothing orders blocks but atomics with __threadfence(), grid.sync() and the end of the "
         "kernel";
}

std::string between_peers() {
  return "nothing orders blocks of a cluster but barrier.cluster, where .relaxed arrivals order no "
         "memory, and arrivals at an mbarrier that release to the cluster";
}

bool is_volatile(const Race& race) { return race.access.is_volatile() || race.rival.is_volatile; }

std::string within_warp(const Race& race) {
  return std::string("lanes of one warp run independently, and ") +
         (is_volatile(race) ? "neither volatile nor a shuffle or a vote orders memory"
                            : "shuffles and votes do not order memory") +
         ": __syncwarp() is missing between the two (__syncthreads() where other warps use the "
         "memory, too), or its mask leaves one of them out";
}

// True if this is the first write: a thread that has read before it has read too early.
bool is_first_write(const Race& race) {
  const Block* block = holder(*race.thread->block, race.access.address);
  if (block == nullptr) return false;
  const size_t offset = race.access.address - block->shared.base;
  return record().of(*block).shared.first_unwritten(offset, race.access.bytes) < race.access.bytes;
}

std::string within_block(const Race& race) {
  if (race.access.way == Way::kCopyIssued) {
    return "the copy refills memory that another thread may still use: __syncthreads() is missing "
           "before this cp.async";
  }
  if (race.access.is_volatile() && race.rival.is_volatile) {
    return "volatile orders nothing between threads: __syncthreads() is missing between the two, "
           "or "
           "__threadfence_block() on both sides of the flag that tells of the memory";
  }
  if (!race.access.writes() || (!race.rival_wrote && is_first_write(race))) {
    return "the writes of this interval are not separated from the reads by __syncthreads()";
  }
  if (!race.rival_wrote) {
    return "the memory is used again before all have read it: __syncthreads() is missing between "
           "the reads and this write";
  }
  return "two threads write the same memory with no __syncthreads() between them";
}

}  // namespace

std::string cause_of(const Race& race) {
  if (race.rival.actor() == Actor::kProduct) return of_product(race);
  if (race.rival.is_bulk() || race.access.is_bulk()) return of_bulk(race);
  if (race.rival.in_flight) return in_flight(race.access);
  const std::string shared_memory = overlap(race);
  if (!shared_memory.empty()) return shared_memory;
  const bool atomic = race.access.strength == Strength::kAtomic;
  const bool rival_atomic = race.rival.strong && !race.rival.is_volatile;
  if (atomic != rival_atomic) return one_is_atomic();
  if (race.rival.block != record().of(*race.thread->block).order.serial()) {
    const bool shared = holder(*race.thread->block, race.access.address) != nullptr;
    return shared ? between_peers() : between_blocks(race);
  }
  const bool one_statement =
      race.rival_wrote && race.access.writes() && race.rival.place() == race.access.pc;
  const bool same_warp = race.rival.thread / 32 == race.thread->warp;
  if (race.updates || one_statement) return no_owner(same_warp ? "two lanes" : "two threads");
  if (same_warp && race.access.way != Way::kCopyIssued) return within_warp(race);
  return within_block(race);
}

}  // namespace fictl_emu::check
