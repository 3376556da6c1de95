// The accumulators of a warpgroup while products write to them. Their values are here, and the
// registers hold NaN, so that a kernel that touches them too early shows it.
#pragma once

#include <fictl_emu/ptx/wgmma.h>

#include <cstdint>
#include <vector>

#include "warpgroup.h"

namespace fictl_emu {

// Arguments of a thread of the group that has come to a wgmma.
inline const ptx::Wgmma& wgmma_of(const Warpgroup& group, uint32_t thread) {
  return *static_cast<const ptx::Wgmma*>(group.arguments[thread]);
}

struct Fragment {
  // Reads the registers of the threads, which have come to a wgmma with these arguments.
  Fragment(const Block& block, const Warpgroup& group);

  // True if a product has these accumulators, or has some of them among others.
  bool is_of(const ptx::Wgmma& first) const;
  bool overlaps(const ptx::Wgmma& first) const;

  void poison();
  // Puts the values back into the registers; stops where one has changed.
  void write_back(const Warpgroup& group);

  const ptx::Accumulator kind;
  const int columns;
  // 64 rows. A sum of integers is an int32_t here, others are floats.
  std::vector<uint32_t> values;
  int pending = 0;         // products
  bool abandoned = false;  // a thread has returned, and its registers are gone
  bool is_poisoned = false;

 private:
  int registers() const { return kind == ptx::Accumulator::kF16 ? columns / 4 : columns / 2; }
  // visit(register, first of its values)
  template <class Visit>
  void each_register(Visit visit);
  void read(uint32_t in_register, uint32_t* to) const;
  uint32_t packed(const uint32_t* from) const;

  const Block& block_;
  std::vector<uint32_t*> places_;  // thread by thread
};

// Stops: the kernel has written to a register of a product under way.
[[noreturn]] void stop_changed(const Thread& thread, const Warpgroup& group, const char* what);

}  // namespace fictl_emu
