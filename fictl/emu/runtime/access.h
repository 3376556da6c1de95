// One access of a thread to memory, and what the checker does with it.
#pragma once

#include "checker.h"
#include "fiber.h"
#include "scheduler.h"
#include "shadow.h"

namespace fictl_emu::check {

enum class Way : uint8_t { kRead, kWrite, kUpdate, kCopyIssued, kCopyLanded };

// An atomic access does not race with another, nor with a volatile one; two volatile ones do not
// where a thread waits for what the other writes.
enum class Strength : uint8_t { kPlain, kVolatile, kAtomic };

struct Access {
  const char* address;
  size_t bytes;
  Way way;
  Strength strength;
  const void* pc;
  Actor actor = Actor::kThread;
  uint32_t epoch = 0;  // when it was issued, of an operation of the engine

  bool strong() const { return strength != Strength::kPlain; }
  bool is_volatile() const { return strength == Strength::kVolatile; }
  bool is_bulk() const { return check::is_bulk(actor); }
  bool reads() const { return way == Way::kRead || way == Way::kUpdate; }
  bool writes() const { return way != Way::kRead; }
};

// True once a wgmma of this launch has been given registers, which are on stacks.
extern bool registers_watched;
void touch_registers(const Access& access);

// Reports what is wrong with an access of the running thread; does not return where it must not
// happen.
void examine(const Access& access);

// True if no other thread is concerned: outside of kernels, and for the thread's own stack and
// built-in variables, which are most accesses of a kernel.
inline bool is_private(const void* address) {
  if (!enabled || team == nullptr || team->current == nullptr) return true;
  const char* at = static_cast<const char*>(address);
  if (static_cast<size_t>(at - team->current->stack) < stacks->bytes()) return true;
  constexpr size_t kAround = 256;  // the built-in variables lie side by side
  const char* built_in = reinterpret_cast<const char*>(&fictl_emu_registers);
  return static_cast<size_t>(at - built_in + kAround) < 2 * kAround;
}

}  // namespace fictl_emu::check
