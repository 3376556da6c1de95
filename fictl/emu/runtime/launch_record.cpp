#include "launch_record.h"

#include <algorithm>
#include <cstring>

#include "defects.h"

namespace fictl_emu::check {

namespace {

constexpr size_t kMostReports = 50;  // of one launch

}  // namespace

LaunchRecord& record() {
  static LaunchRecord* const the_record = new LaunchRecord;
  return *the_record;
}

SharedRecord::SharedRecord()
    : cells(SharedMemory::kCapacity, kGranuleLog2), written_(SharedMemory::kCapacity) {}

void SharedRecord::block_begins(const SharedMemory& shared) {
  memset(written(), 0, end_dynamic_);
  if (end_static_ != 0) {
    memset(written() + begin_static_, 0, end_static_ - begin_static_);
  }
  begin_static_ = shared.static_begin;
  end_dynamic_ = end_static_ = 0;
}

void SharedRecord::mark_written(size_t offset, size_t bytes) {
  memset(written() + offset, 1, bytes);
  size_t& end = offset < begin_static_ ? end_dynamic_ : end_static_;
  end = std::max(end, offset + bytes);
}

size_t SharedRecord::first_unwritten(size_t offset, size_t bytes) const {
  const void* found = memchr(written() + offset, 0, bytes);
  return found == nullptr ? bytes : static_cast<const uint8_t*>(found) - (written() + offset);
}

void LaunchRecord::begin(const Launch& launch) {
  const uint64_t next = uint64_t{first_serial} + begun_.size();
  if (next + launch.blocks > UINT32_MAX) {
    tensors.forget_accesses();
    host.forget_accesses();
    blocks_.clear();
    dependencies.forget();
    first_serial = 1;
  } else {
    first_serial = static_cast<uint32_t>(next);
  }
  begun_.clear();
  ended_.clear();
  told_.clear();
  flags.clear();
  stores.clear();
  products.clear();
  blocks_without_fence.clear();
  pending.reset();
  waiting.launch_begins();
  tensors.update(first_serial);
  dependencies.launch_begins(launch.grids.front().asked.programmatic != 0, first_serial);
  tensors.forget_before(dependencies.oldest());
  host.launch_begins(launch);
}

void LaunchRecord::begin_block(const Block& block) {
  while (blocks_.size() <= block.slot) blocks_.push_back(std::make_unique<BlockRecord>());
  const uint32_t serial = first_serial + static_cast<uint32_t>(begun_.size());
  begun_.push_back({block.grid, block.linear});
  of(block).order.begin(serial, block.threads.size());
  if (block.grid->before != nullptr) of(block).order.grid_meets(ended_[block.grid->before]);
  of(block).shared.block_begins(block.shared);
  of(block).cluster = nullptr;
  of(block).visits.clear();
  of(block).waits.begin(block.threads.size());
  of(block).phases.clear();
  of(block).consumed.clear();
  of(block).waited.assign(block.threads.size(), {});
  of(block).registers.clear();
  of(block).copies.clear();
}

const KnownCopy* BlockRecord::copy_at(uint32_t offset) const {
  const auto next = copies.upper_bound(offset);
  if (next == copies.begin()) return nullptr;
  const KnownCopy& copy = std::prev(next)->second;
  return offset - copy.offset < copy.bytes ? &copy : nullptr;
}

void LaunchRecord::end_block(const Block& block) {
  dependencies.block_ends(of(block).waits);
  if (team->launch->grids.size() == 1) return;
  SharedClock& known = ended_[block.grid];
  known = joined(known, of(block).order.at_end());
}

bool LaunchRecord::is_news(const void* pc, const void* other) {
  return told_.size() < kMostReports && told_.insert({pc, other}).second;
}

void settle_pending(const Access* next) {
  record().waiting.settle();
  std::optional<PendingRace>& pending = record().pending;
  if (!pending) return;
  const PendingRace found = *pending;
  pending.reset();
  Race race = found.race;
  if (race.access.writes()) {
    const size_t bytes = std::min(race.access.bytes, sizeof found.before);
    if (memcmp(found.before, race.access.address, bytes) == 0) return;
  } else {
    race.updates = next != nullptr && next->writes() && next->address == race.access.address &&
                   current() == race.thread;
  }
  report_race(race);
}

}  // namespace fictl_emu::check
