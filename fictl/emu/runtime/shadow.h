// The memory beside the memory: who read and wrote each few bytes last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "clock.h"

namespace fictl_emu::check {

// Who accesses memory: a thread; or for it a cp.async, a bulk copy that an mbarrier counts, a bulk
// store in a group, a wgmma.
enum class Actor : uint8_t { kThread, kCopy, kLoad, kStore, kProduct };

// True for those that belong to the asynchronous proxy.
inline bool is_async(Actor actor) { return actor >= Actor::kLoad; }
inline bool is_bulk(Actor actor) { return actor == Actor::kLoad || actor == Actor::kStore; }

// One access, in 16 bytes.
struct Stamp {
  uint64_t pc : 48;
  uint64_t thread : 10;
  uint64_t mask : 4;       // the bytes of the granule; 0: no access
  uint64_t strong : 1;     // atomic or volatile
  uint64_t in_flight : 1;  // an asynchronous copy that has not landed
  uint32_t block;          // its serial
  uint32_t epoch : 28;
  uint32_t by : 3;  // an Actor
  uint32_t is_volatile : 1;

  Actor actor() const { return static_cast<Actor>(uint32_t{by}); }
  bool is_bulk() const { return check::is_bulk(actor()); }
  const void* place() const { return reinterpret_cast<const void*>(uint64_t{pc}); }
};
static_assert(sizeof(Stamp) == 16);

// Why two readers: a later write that is ordered after both is very likely ordered after all, if
// they are of different warps.
struct Cell {
  Stamp write;
  Stamp reads[2];
};

// Zeroed memory of the process that costs what is touched of it.
class LazyMemory {
 public:
  explicit LazyMemory(size_t bytes);
  ~LazyMemory();
  LazyMemory(const LazyMemory&) = delete;
  LazyMemory& operator=(const LazyMemory&) = delete;

  void* data() const { return data_; }

 private:
  void* data_;
  size_t bytes_;
};

// The cells of a range of memory, one for each granule of 1, 2 or 4 bytes.
class Shadow {
 public:
  Shadow(size_t bytes, unsigned granule_log2);

  // visit(Cell&, mask): `mask` has a bit for each byte of the granule that the access covers.
  template <class Visit>
  void visit(size_t offset, size_t bytes, Visit&& visit) const {
    const size_t end = offset + bytes;
    const unsigned granule = 1u << granule_log2_, whole = (1u << granule) - 1;
    for (size_t at = offset & ~size_t{granule - 1}; at < end; at += granule) {
      unsigned mask = whole;
      if (at < offset) mask &= whole << (offset - at);
      if (at + granule > end) mask &= whole >> (at + granule - end);
      visit(cells()[at >> granule_log2_], mask);
    }
  }

 private:
  Cell* cells() const { return static_cast<Cell*>(memory_.data()); }

  unsigned granule_log2_;
  LazyMemory memory_;
};

// Memory whose accesses are recorded in one place, because tensors in it may overlap.
struct Region {
  const char* begin;  // aligned to the widest granule
  const char* end;
  unsigned granule_log2;
  bool writable;
  std::unique_ptr<Shadow> shadow;  // made at the first access
  // If it is only read: between which addresses, and by which block the last time.
  const char* read_begin = nullptr;
  const char* read_end = nullptr;
  uint32_t reader = 0;

  Shadow& cells();
  void note_read(const char* address, size_t bytes, uint32_t serial);
};

}  // namespace fictl_emu::check
