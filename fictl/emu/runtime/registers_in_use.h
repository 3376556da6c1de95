// Registers that wgmma has been given: which of them a product owns, and which the thread has
// touched since its last wgmma.fence. They are variables on the thread's stack.
#pragma once

#include <fictl_emu/ptx/wgmma.h>

#include <cstdint>
#include <vector>

#include "access.h"

namespace fictl_emu::check {

// Some registers of one thread: accumulators, or those of A.
struct RegisterRange {
  const char* begin;
  const char* end;
  std::vector<const char*> exact;  // sorted; empty where they lie side by side
  bool is_a;
  uint32_t group;  // of the product that has them
  bool is_open = false;
  const void* product = nullptr;  // where it was issued
  const void* touched = nullptr;  // where, since the last fence

  bool holds(const char* address, size_t bytes) const;
};

// Of one thread.
class RegistersInUse {
 public:
  void fence();
  void commit() { ++committed_; }
  void wait(uint32_t pending);
  void issue(const ptx::Wgmma& wgmma, const void* pc);
  void touch(const Access& access);

 private:
  void take(void* const* places, int count, bool is_a, const void* pc);
  RegisterRange& range_of(RegisterRange range);

  bool is_fenced_ = false;
  uint32_t committed_ = 0;
  std::vector<RegisterRange> ranges_;
};

}  // namespace fictl_emu::check
