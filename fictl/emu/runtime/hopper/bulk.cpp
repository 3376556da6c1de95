#include "bulk.h"

#include <algorithm>
#include <cstring>

#include "mbarrier.h"
#include "peers.h"
#include "report.h"
#include "scheduler.h"

namespace fictl_emu {

namespace {

constexpr uint32_t kPiece = 16;  // bytes that no swizzle takes apart
constexpr int kPoison = 0xFF;

uint32_t offset_of(const Block& block, const void* address) {
  const char* canonical = block.shared.canonical(static_cast<const char*>(address));
  return static_cast<uint32_t>(canonical - block.shared.base);
}

// Calls visit(offset in shared memory, offset in the copy, bytes) for what stays together.
template <class Visit>
void pieces(Swizzle swizzle, uint32_t offset, uint32_t at, uint32_t count, Visit visit) {
  if (swizzle == Swizzle::kNone) {
    visit(offset + at, at, count);
    return;
  }
  for (const uint32_t end = at + count; at < end;) {
    const uint32_t length = std::min(kPiece - (offset + at) % kPiece, end - at);
    visit(swizzled(swizzle, offset + at), at, length);
    at += length;
  }
}

// Swizzles move bytes within a multiple of 128 only.
bool stays_in_place(Swizzle swizzle, uint32_t offset, uint32_t count) {
  return swizzle == Swizzle::kNone || (offset % 128 == 0 && count % 128 == 0);
}

[[noreturn]] void stop_gone(const std::string& name, uint32_t rank, const Block* block,
                            const void* pc) {
  stop_bulk("cluster-target-gone",
            name + " to the block of rank " + std::to_string(rank) +
                (block == nullptr ? ", which the cluster does not have" : ", which has ended"),
            "the mask of a multicast names blocks of the cluster that are still running: a block "
            "stays until all copies to it have arrived",
            pc);
}

Destination destination(Block& block, const void* to, const Mbarrier& barrier, const Block& seen) {
  return {&block, offset_of(seen, to), barrier.offset};
}

}  // namespace

char* Destination::memory() const { return block->shared.base + offset; }

void stop_bulk(const char* kind, const std::string& what, const char* cause, const void* pc) {
  Report report(kind, current());
  report.place(pc);
  report.text("what", what).text("cause", cause);
  report.file();
  stop_kernel();
}

void require_multiple(const void* address, uint32_t of, const char* what, const void* pc) {
  if (reinterpret_cast<uintptr_t>(address) % of == 0) return;
  const Block* block = holder(address);
  const std::string where =
      block == nullptr
          ? std::to_string(reinterpret_cast<uintptr_t>(address) % of) + " bytes past one"
          : "shared+" + std::to_string(offset_of(*block, address));
  stop_bulk("misaligned",
            std::string(what) + " that is not a multiple of " + std::to_string(of) + ": " + where,
            "shared memory of tiles needs alignas(128), or alignas(1024) under a swizzle of 128 "
            "bytes; base pointers and offsets in global memory must be multiples of 16 bytes",
            pc);
}

Load::Load(Thread& thread, const void* pc, const void* to, const void* barrier, uint32_t mask,
           const char* name)
    : Operation(thread, pc) {
  const Mbarrier& counts = mbarrier_at(barrier, name, pc);
  Block* holds = holder(to);
  if (holds == nullptr) {
    stop_bulk("bad-address", std::string(name) + " to an address that is not of shared memory",
              "the destination is the 32-bit address that __cvta_generic_to_shared() gives", pc);
  }
  if (counts.block != holds) {
    stop_bulk("bad-address",
              std::string(name) + " into one block with an mbarrier of another block",
              "destination and mbarrier must be in the same block of the cluster", pc);
  }
  if (mask == 0) destinations_.push_back(destination(*holds, to, counts, *holds));
  for (uint32_t rank = 0; mask >> rank != 0; ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    Block* block = peer(*thread.block, rank);
    if (block == nullptr || block->alive == 0) stop_gone(name, rank, block, pc);
    destinations_.push_back(destination(*block, to, counts, *holds));
  }
}

void Load::announce() {
  if (!check::enabled) return;
  ticket_ = check::async_issued(thread, false, pc);
  for (const Destination& to : destinations_) {
    check::copy_described(*to.block, to.offset, bytes(), to.barrier, {text(), base(), pc});
    tell(to, check::AsyncWay::kWillWrite);
  }
}

void Load::tell(const Destination& to, check::AsyncWay way) const {
  if (!check::enabled) return;
  const char* base = to.block->shared.base;
  const uint32_t count = bytes();
  if (stays_in_place(swizzle(), to.offset, count)) {
    check::async_access(ticket_, way, base + to.offset, count, pc);
    return;
  }
  pieces(swizzle(), to.offset, 0, count, [&](uint32_t offset, uint32_t, uint32_t length) {
    check::async_access(ticket_, way, base + offset, length, pc);
  });
}

void Load::poison() {
  for (const Destination& to : destinations_) {
    pieces(swizzle(), to.offset, 0, bytes(), [&](uint32_t offset, uint32_t, uint32_t length) {
      memset(to.block->shared.base + offset, kPoison, length);
    });
  }
}

void Load::put(const Destination& to, uint32_t at, const char* from, uint32_t count) const {
  const uint32_t begin = at;
  pieces(swizzle(), to.offset, at, count, [&](uint32_t offset, uint32_t now, uint32_t length) {
    memcpy(to.block->shared.base + offset, from + (now - begin), length);
  });
}

void Load::complete() {
  for (const Destination& to : destinations_) {
    const bool gone = to.block->alive == 0 && to.block != thread.block;
    if (gone) stop_gone(text(), to.block->place.rank, to.block, pc);
    write(to);
    tell(to, check::AsyncWay::kHasWritten);
    Mbarrier& barrier = mbarrier_at(to.block->shared.base + to.barrier, "the end of a copy", pc);
    check::async_completed(ticket_, barrier);
    barrier.latest = text();
    barrier.latest_pc = pc;
    complete_bytes(barrier, bytes(), pc);
  }
}

Store::Store(Thread& thread, const void* pc, const void* from)
    : Operation(thread, pc), source_(static_cast<const char*>(from)) {
  if (!thread.block->shared.contains(from)) {
    stop_bulk("bad-address",
              "a bulk store from an address that is not of this block's shared memory",
              "the source is the 32-bit address that __cvta_generic_to_shared() gives", pc);
  }
  source_ = thread.block->shared.canonical(source_);
  counted = Counted::kAsBulkGroup;
  group = thread.bulk_group;
  thread.uncommitted_store = pc;
}

void Store::announce() {
  if (!check::enabled) return;
  ticket_ = check::async_issued(thread, true, pc);
  check::copy_described(*thread.block, offset_of(*thread.block, source_), bytes(),
                        check::kNoBarrier, {text(), base(), pc});
  tell_source();
}

void Store::tell_source() const { tell_read(0, bytes()); }

void Store::tell_read(uint32_t at, uint32_t count) const {
  const char* shared = thread.block->shared.base;
  pieces(swizzle(), offset_of(*thread.block, source_), at, count,
         [&](uint32_t offset, uint32_t, uint32_t length) {
           check::async_access(ticket_, check::AsyncWay::kReads, shared + offset, length, pc);
         });
}

bool Load::writes_to(const Block& block) const {
  return std::any_of(destinations_.begin(), destinations_.end(),
                     [&](const Destination& to) { return to.block == &block; });
}

void bulk_after_exit(Thread& thread) {
  if (thread.uncommitted_store == nullptr) return;
  Report report("uncommitted", &thread);
  report.place(thread.uncommitted_store);
  report.text("what",
              "the thread returns with a bulk store that no cp.async.bulk.commit_group "
              "follows");
  report.text("cause", "a wait covers committed groups alone: commit, then wait_group");
  report.file();
}

void Store::read_source() {
  if (!content_.empty()) return;
  content_.resize(bytes());
  const char* base = thread.block->shared.base;
  pieces(swizzle(), offset_of(*thread.block, source_), 0, bytes(),
         [&](uint32_t offset, uint32_t at, uint32_t length) {
           memcpy(content_.data() + at, base + offset, length);
         });
}

void Store::complete() {
  read_source();
  write(content_.data());
}

}  // namespace fictl_emu

extern "C" {

void fictl_emu_bulk_commit() {
  fictl_emu::Thread& self = *fictl_emu::current();
  ++self.bulk_group;
  self.uncommitted_store = nullptr;
  fictl_emu::check::bulk_committed(self);
}

void fictl_emu_bulk_wait(uint32_t pending_groups, int reads) {
  using namespace fictl_emu;
  Thread& self = *current();
  const auto is_due = [&](const Operation& operation) {
    return &operation.thread == &self && operation.counted == Counted::kAsBulkGroup &&
           operation.group + pending_groups < self.bulk_group;
  };
  if (reads == 0) team->engine->finish(is_due);
  for (const auto& operation : team->engine->outstanding()) {
    if (is_due(*operation)) operation->read_source();
  }
  check::bulk_waited(self, pending_groups, reads != 0);
}
}
