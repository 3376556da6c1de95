#include "access.h"

#include <algorithm>
#include <cstring>

#include "cluster.h"
#include "defects.h"
#include "defects_hopper.h"
#include "hopper/peers.h"
#include "launch_record.h"

namespace fictl_emu::check {

namespace {

// Compares an access with those before it, cell by cell, and takes their place.
class Tracer {
 public:
  // Accesses of blocks before `oldest` are over.
  // `proxy`: those that an asynchronous access must find behind earlier ones of threads.
  Tracer(const Access& access, const Thread& thread, const Order& order, uint32_t oldest,
         Knows proxy)
      : access_(access),
        order_(order),
        oldest_(oldest),
        proxy_(proxy),
        crosses_(is_async(access.actor)) {
    me_.pc = reinterpret_cast<uintptr_t>(access.pc);
    me_.thread = thread.linear;
    me_.strong = access.strong();
    me_.is_volatile = access.is_volatile();
    me_.in_flight = access.way == Way::kCopyIssued;
    me_.block = order.serial();
    me_.by = static_cast<uint32_t>(access.actor);
    me_.epoch = access.epoch != 0 ? access.epoch : order.now(thread.linear);
  }

  void trace(const Shadow& shadow, size_t offset) {
    shadow.visit(offset, access_.bytes, [this](Cell& cell, unsigned mask) {
      me_.mask = mask;
      if (access_.way == Way::kRead) {
        read(cell);
      } else {
        write(cell);
      }
    });
  }

  // The first access found that this one races with; its mask is zero if there is none.
  const Stamp& rival() const { return rival_; }
  bool rival_wrote() const { return rival_wrote_; }
  // An access of a thread that no fence of proxies follows; null if there is none.
  const Stamp* unfenced() const { return is_unfenced_ ? &unfenced_ : nullptr; }
  bool unfenced_wrote() const { return unfenced_wrote_; }
  // Did the rival, and did this thread, read the same memory as well?
  bool rival_read() const { return rival_read_; }
  bool has_read() const { return has_read_; }

 private:
  bool is_over(const Stamp& stamp) const {
    return stamp.block < oldest_ || is_behind(stamp, false);
  }
  // True if this access is ordered after that one, and after its end.
  bool is_behind(const Stamp& stamp, bool wrote) const {
    if (__builtin_expect(stamp.lasts(), 0)) return is_behind_end(stamp, wrote);
    return order_.follows(me_.thread, stamp);
  }
  __attribute__((noinline)) bool is_behind_end(const Stamp& stamp, bool wrote) const {
    Stamp end = stamp;
    end.epoch = record().ends.of(stamp, wrote);
    if (end.epoch == 0) return false;
    if (order_.follows(me_.thread, end)) return true;
    if (stamp.actor() != Actor::kProduct) return false;
    const bool same_warp = stamp.block == me_.block && (stamp.thread ^ me_.thread) < 32;
    return same_warp || order_.knows(me_.thread, end, Knows::kProducts);
  }
  bool collides(const Stamp& stamp, bool wrote) const {
    if ((stamp.mask & me_.mask) == 0 || stamp.block < oldest_) return false;
    if (stamp.in_flight) return true;
    if (stamp.strong && me_.strong && !may_be_told(stamp)) return false;
    return !is_behind(stamp, wrote);
  }
  // Between blocks, what is volatile is meant for others. Within one it may also be a relic of
  // warps whose lanes went in step, unless it is a flag: see waiting.h.
  bool may_be_told(const Stamp& stamp) const {
    return stamp.is_volatile && me_.is_volatile && stamp.block == me_.block;
  }
  void compare(const Cell& cell, const Stamp& stamp, bool wrote) {
    if (crosses_) look_for_fence(stamp, wrote);
    if (rival_.mask != 0 || !collides(stamp, wrote)) return;
    rival_ = stamp;
    rival_wrote_ = wrote;
    for (const Stamp& read : cell.reads) {
      if (read.mask == 0 || read.block != stamp.block) continue;
      rival_read_ |= read.thread == stamp.thread;
      has_read_ |= read.thread == me_.thread && stamp.block == me_.block;
    }
  }

  // Between an access of a thread and this asynchronous one.
  __attribute__((noinline)) void look_for_fence(const Stamp& stamp, bool wrote) {
    if (is_unfenced_ || (stamp.mask & me_.mask) == 0 || stamp.block < oldest_) return;
    if (is_async(stamp.actor()) || order_.knows(me_.thread, stamp, proxy_)) return;
    is_unfenced_ = true;
    unfenced_ = stamp;
    unfenced_wrote_ = wrote;
  }

  void write(Cell& cell) {
    if (access_.way != Way::kCopyLanded) {
      compare(cell, cell.write, true);
      compare(cell, cell.reads[0], false);
      compare(cell, cell.reads[1], false);
    }
    cell.write = me_;
  }

  void read(Cell& cell) {
    compare(cell, cell.write, true);
    Stamp &first = cell.reads[0], &second = cell.reads[1];
    if (is_over(first)) {
      first = me_;
    } else if (is_over(second) || (second.thread ^ first.thread) < 32) {
      second = me_;
    }
  }

  const Access& access_;
  const Order& order_;
  const uint32_t oldest_;
  const Knows proxy_;
  const bool crosses_;
  Stamp me_{};
  Stamp unfenced_;  // if it is found
  bool is_unfenced_ = false;
  bool unfenced_wrote_ = false;
  Stamp rival_{};
  bool rival_wrote_ = false;
  bool rival_read_ = false;
  bool has_read_ = false;
};

// Stores of two threads are no defect where the second changes nothing, which shows afterwards.
bool may_change_nothing(const Race& race) {
  return race.access.way == Way::kWrite && race.access.strength != Strength::kAtomic &&
         race.rival_wrote && !race.rival.in_flight &&
         race.access.bytes <= sizeof(PendingRace::before);
}

// True if the read may be the first half of an update, as the rival's was.
bool may_update(const Race& race) {
  return race.access.way == Way::kRead && race.rival_wrote && race.rival_read;
}

// Finds and reports races, and missing fences of proxies; false if there is a race.
bool trace(const Access& access, const Thread& thread, const Shadow& shadow, size_t offset,
           const Order& order, uint32_t oldest, Knows proxy) {
  Tracer tracer(access, thread, order, oldest, proxy);
  tracer.trace(shadow, offset);
  if (tracer.rival().mask == 0) {
    const Stamp* unfenced = tracer.unfenced();
    if (unfenced != nullptr) report_unfenced(access, *unfenced, tracer.unfenced_wrote());
    return true;
  }
  Race race{access, &thread, tracer.rival(), tracer.rival_wrote(), tracer.rival_read()};
  race.updates = access.writes() && race.rival_wrote && race.rival_read && tracer.has_read();
  if (access.is_volatile() && race.rival.is_volatile && access.way == Way::kRead) {
    record().waiting.read_too_early(access, thread);
  }
  if (may_change_nothing(race) || may_update(race)) {
    PendingRace& pending = record().pending.emplace(PendingRace{race, {}});
    if (access.writes()) memcpy(pending.before, access.address, access.bytes);
  } else {
    report_race(race);
  }
  return false;
}

// A flag is memory that threads access atomically or as volatile to tell one another something.
void hear(const Access& access, const Thread& thread, Order& order) {
  if (!access.strong() || !access.reads()) return;
  const auto flag = record().flags.find(access.address);
  if (flag != record().flags.end()) order.acquire(thread.linear, flag->second);
}

void tell(const Access& access, const Thread& thread, const Order& order) {
  if (!access.strong() || !access.writes()) return;
  const Publication news = order.publish(thread.linear);
  if (news.to_device == nullptr) record().blocks_without_fence.insert(order.serial());
  if (news.to_block == nullptr) {
    // An update hands on what others have told there; a write replaces it.
    if (access.way == Way::kWrite) record().flags.erase(access.address);
    return;
  }
  Publication& flag = record().flags[access.address];
  if (access.way == Way::kUpdate) {
    const bool same_block = flag.block == news.block;
    flag = {news.block, same_block ? joined(flag.to_block, news.to_block) : news.to_block,
            joined(flag.to_device, news.to_device)};
  } else {
    flag = news;
  }
}

bool in_a_variable(const SharedMemory& shared, size_t offset, size_t bytes) {
  if (offset < shared.static_begin) return offset + bytes <= shared.dynamic_bytes;
  for (const SharedVariable& variable : shared.variables) {
    if (offset - variable.offset < variable.bytes) {
      return offset + bytes <= size_t{variable.offset} + variable.bytes;
    }
  }
  return false;
}

// The running thread accesses shared memory of another block. That must have begun in every
// schedule, not in this one alone.
void visit(const Access& access, const Thread& thread, const Order& order, const Block& owner) {
  BlockRecord& there = record().of(owner);
  const bool met = owner.cluster->phase != 0;
  if (owner.alive == 0 || (!met && !order.has_heard_of(thread.linear, there.order.serial()))) {
    stop_target_gone(owner, access.pc);
  }
  Stamp stamp{};
  stamp.pc = reinterpret_cast<uintptr_t>(access.pc);
  stamp.thread = thread.linear;
  stamp.block = order.serial();
  stamp.epoch = access.epoch != 0 ? access.epoch : order.now(thread.linear);
  there.visits[uint64_t{stamp.block} << 10 | thread.linear] = {stamp, thread.cluster_arrivals};
}

// A write must not go to the memory of a barrier.
void look_for_barrier(const Access& access, const Block& owner, size_t offset) {
  constexpr uint32_t kBytes = 8;
  const auto at = static_cast<uint32_t>(offset);
  const auto next = owner.mbarriers.lower_bound(at < kBytes ? 0 : at - kBytes + 1);
  if (next == owner.mbarriers.end() || next->first >= offset + access.bytes) return;
  if (access.way != Way::kCopyLanded) report_overwritten(access, next->second);
}

void examine_shared(const Access& access, const Thread& thread, const Block& owner) {
  const SharedMemory& memory = owner.shared;
  const size_t offset = access.address - memory.base;
  Order& order = record().of(*thread.block).order;
  if (&owner != thread.block) visit(access, thread, order, owner);
  if (!in_a_variable(memory, offset, access.bytes)) stop_out_of_bounds(access);

  BlockRecord& block = record().of(owner);
  // The blocks of a cluster have begun one after another.
  const uint32_t oldest = order.serial() - thread.block->place.rank;
  hear(access, thread, order);
  if (access.writes() && !owner.mbarriers.empty()) look_for_barrier(access, owner, offset);
  const bool clean =
      trace(access, thread, block.shared.cells, offset, order, oldest, Knows::kSharedProxy);
  // A product may have rows that nobody uses.
  if (clean && access.reads() && access.actor != Actor::kProduct) {
    const size_t unwritten = block.shared.first_unwritten(offset, access.bytes);
    if (unwritten < access.bytes) report_uninitialised(access, unwritten);
  }
  if (access.writes() && access.way != Way::kCopyIssued) {
    block.shared.mark_written(offset, access.bytes);
  }
  tell(access, thread, order);
}

// Memory outside of the tensors: fine where it is a variable of a module. Where its accesses are
// recorded, if they are.
Region* examine_elsewhere(const Access& access) {
  constexpr uintptr_t kNullPage = 64 << 10, kNearNull = 64 << 20;
  const auto address = reinterpret_cast<uintptr_t>(access.address);
  if (address < kNullPage) stop_null(access);
  if (record().tensors.empty()) return nullptr;
  if (record().host.contains(access.address)) return record().host.variables_at(access.address);
  if (address < kNearNull) stop_null(access);
  stop_out_of_bounds(access);
}

Region* examine_tensor(const Access& access, const Tensor& tensor) {
  if (access.writes() && !tensor.writable()) report_read_only(access, tensor);
  if (tensor.region->writable) return tensor.region;
  tensor.region->note_read(access.address, access.bytes,
                           record().of(*current()->block).order.serial());
  return nullptr;
}

// The access of an earlier launch that may not be over, with its mask; no mask: there is none.
Stamp unfinished(const Access& access, Region& region, bool& wrote) {
  const Dependencies& earlier = record().dependencies;
  Stamp found{};
  if (access.writes() && earlier.includes(region.reader) && access.address < region.read_end &&
      access.address + access.bytes > region.read_begin) {
    found.mask = 1;
  }
  if (region.shadow == nullptr) return found;
  const size_t offset = access.address - region.begin;
  const size_t bytes = std::min<size_t>(access.bytes, region.end - access.address);
  region.shadow->visit(offset, bytes, [&](const Cell& cell, unsigned mask) {
    for (const Stamp* stamp : {&cell.write, &cell.reads[0], &cell.reads[1]}) {
      const bool collides = access.writes() || stamp == &cell.write;
      if (!collides || (stamp->mask & mask) == 0 || !earlier.includes(stamp->block)) continue;
      found = *stamp;
      wrote = stamp == &cell.write;
      return;
    }
  });
  return found;
}

// Before griddepcontrol.wait, what earlier launches have touched may still be in use.
void look_for_earlier(const Access& access, const Thread& thread, Region* region) {
  LaunchRecord& launch = record();
  const BlockRecord& block = launch.of(*thread.block);
  if (block.waits.are_over(thread, block.order)) return;
  std::vector<Region*> regions = launch.tensors.former(access.address);
  if (region != nullptr) regions.push_back(region);
  for (Region* each : regions) {
    bool wrote = false;
    const Stamp found = unfinished(access, *each, wrote);
    if (found.mask != 0) return report_before_wait(access, found, wrote);
  }
}

void examine_global(const Access& access, const Thread& thread) {
  LaunchRecord& launch = record();
  Order& order = launch.of(*thread.block).order;
  hear(access, thread, order);
  const Tensor* tensor =
      launch.tensors.find(access.address, access.bytes, access.writes(), access.pc);
  Region* region = tensor != nullptr ? examine_tensor(access, *tensor) : examine_elsewhere(access);
  // Why not elsewhere: arguments that were kept may lie where a tensor was.
  const bool is_arguments = tensor == nullptr && region == nullptr;
  if (launch.dependencies.any() && !is_arguments) look_for_earlier(access, thread, region);
  if (region != nullptr) {
    const size_t offset = access.address - region->begin;
    trace(access, thread, region->cells(), offset, order, launch.first_serial, Knows::kGlobalProxy);
  }
  tell(access, thread, order);
}

// An access by way of one part of shared memory stays in it. All ways lead to the same memory, so
// that one address stands for them.
Access seen_from_base(const Access& access, const SharedMemory& memory) {
  const SharedPart* part = memory.part_at(access.address);
  if (part == nullptr) return access;
  Access same = access;
  same.address = memory.canonical(access.address);
  if (!part->contains(same.address - memory.base, same.bytes)) stop_out_of_part(same, *part);
  return same;
}

}  // namespace

void examine(const Access& given) {
  if (given.bytes == 0) return;
  const Thread& thread = *current();
  const auto on_stack = static_cast<size_t>(given.address - thread.stack);
  if (on_stack < stacks->bytes()) return touch_registers(given);
  const Block* owner = holder(*thread.block, given.address);
  const Access access = owner != nullptr ? seen_from_base(given, owner->shared) : given;
  settle_pending(&access);
  record().waiting.note(access, thread);
  if (owner != nullptr) {
    examine_shared(access, thread, *owner);
  } else if (!stacks->contains(access.address)) {
    examine_global(access, thread);
  }
}

}  // namespace fictl_emu::check
