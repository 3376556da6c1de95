// Hooks that the compiler calls in check-mode modules, in place of libtsan and libubsan.
#include <cstring>

#include "access.h"
#include "defects.h"
#include "system.h"

using fictl_emu::Lock;
using fictl_emu::Mutex;
using fictl_emu::check::Access;
using fictl_emu::check::Strength;
using fictl_emu::check::Way;

namespace {

inline __attribute__((always_inline)) void touch(const void* address, size_t bytes, Way way,
                                                 Strength strength, const void* pc) {
  const Access access{static_cast<const char*>(address), bytes, way, strength, pc};
  if (fictl_emu::check::is_private(address)) {
    if (fictl_emu::check::registers_watched) fictl_emu::check::touch_registers(access);
    return;
  }
  fictl_emu::check::examine(access);
}

bool in_kernel() {
  return fictl_emu::check::enabled && fictl_emu::team != nullptr && fictl_emu::current() != nullptr;
}

// True if an operation of that order makes earlier writes visible, as a fence before it would.
bool releases(int order) { return order >= __ATOMIC_RELEASE; }

void touch_atomically(const volatile void* address, size_t bytes, Way way, int order,
                      const void* pc) {
  const void* plain = const_cast<const void*>(address);
  if (fictl_emu::check::is_private(plain)) return;
  if (way != Way::kRead && releases(order)) {
    fictl_emu::check::fence(*fictl_emu::current(), FICTL_EMU_DEVICE);
  }
  touch(plain, bytes, way, Strength::kAtomic, pc);
}

// A thread that reads the same volatile memory at the same place again waits for it to change.
void touch_volatile(const void* address, size_t bytes, const void* pc) {
  static const void* last_address = nullptr;
  static const void* last_pc = nullptr;
  static const fictl_emu::Thread* last_thread = nullptr;
  if (fictl_emu::check::is_private(address)) return;
  fictl_emu::Thread* thread = fictl_emu::current();
  if (address == last_address && pc == last_pc && thread == last_thread) {
    thread->pc = pc;
    fictl_emu_yield(0, nullptr, 0);
  }
  last_address = address;
  last_pc = pc;
  last_thread = thread;
  touch(address, bytes, Way::kRead, Strength::kVolatile, pc);
}

// Compilers have no atomics of 16 bytes without a library.
Mutex wide_atomics;

}  // namespace

constexpr Strength kPlain = Strength::kPlain;

#define CALLER __builtin_return_address(0)

#pragma GCC visibility push(default)
extern "C" {

void fictl_emu_access(const void* address, size_t bytes, int kind) {
  const bool atomic = (kind & FICTL_EMU_ATOMIC) != 0, writes = (kind & FICTL_EMU_WRITE) != 0;
  touch(address, bytes,
        !writes  ? Way::kRead
        : atomic ? Way::kUpdate
                 : Way::kWrite,
        atomic ? Strength::kAtomic : Strength::kPlain, CALLER);
}

// ---- -fsanitize=thread: plain accesses ----

void __tsan_init() { fictl_emu::check::module_loaded(CALLER); }
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define PLAIN_ACCESSES(N)                                                               \
  void __tsan_read##N(void* p) { touch(p, N, Way::kRead, kPlain, CALLER); }             \
  void __tsan_write##N(void* p) { touch(p, N, Way::kWrite, kPlain, CALLER); }           \
  void __tsan_read_write##N(void* p) {                                                  \
    touch(p, N, Way::kRead, kPlain, CALLER);                                            \
    touch(p, N, Way::kWrite, kPlain, CALLER);                                           \
  }                                                                                     \
  void __tsan_unaligned_read##N(void* p) { touch(p, N, Way::kRead, kPlain, CALLER); }   \
  void __tsan_unaligned_write##N(void* p) { touch(p, N, Way::kWrite, kPlain, CALLER); } \
  void __tsan_unaligned_read_write##N(void* p) {                                        \
    touch(p, N, Way::kRead, kPlain, CALLER);                                            \
    touch(p, N, Way::kWrite, kPlain, CALLER);                                           \
  }                                                                                     \
  void __tsan_volatile_read##N(void* p) { touch_volatile(p, N, CALLER); }               \
  void __tsan_volatile_write##N(void* p) {                                              \
    touch(p, N, Way::kWrite, Strength::kVolatile, CALLER);                              \
  }                                                                                     \
  void __tsan_unaligned_volatile_read##N(void* p) { touch_volatile(p, N, CALLER); }     \
  void __tsan_unaligned_volatile_write##N(void* p) {                                    \
    touch(p, N, Way::kWrite, Strength::kVolatile, CALLER);                              \
  }

PLAIN_ACCESSES(1)
PLAIN_ACCESSES(2)
PLAIN_ACCESSES(4)
PLAIN_ACCESSES(8)
PLAIN_ACCESSES(16)
#undef PLAIN_ACCESSES

void __tsan_read_range(void* p, size_t bytes) { touch(p, bytes, Way::kRead, kPlain, CALLER); }
void __tsan_write_range(void* p, size_t bytes) { touch(p, bytes, Way::kWrite, kPlain, CALLER); }

// ---- copies and fills: clang calls the first, the linker sends others to the second (--wrap) ----

#define COPIES(PREFIX)                                              \
  void* PREFIX##memcpy(void* to, const void* from, size_t bytes) {  \
    touch(from, bytes, Way::kRead, kPlain, CALLER);                 \
    touch(to, bytes, Way::kWrite, kPlain, CALLER);                  \
    return memcpy(to, from, bytes);                                 \
  }                                                                 \
  void* PREFIX##memmove(void* to, const void* from, size_t bytes) { \
    touch(from, bytes, Way::kRead, kPlain, CALLER);                 \
    touch(to, bytes, Way::kWrite, kPlain, CALLER);                  \
    return memmove(to, from, bytes);                                \
  }                                                                 \
  void* PREFIX##memset(void* to, int value, size_t bytes) {         \
    touch(to, bytes, Way::kWrite, kPlain, CALLER);                  \
    return memset(to, value, bytes);                                \
  }

COPIES(__tsan_)
COPIES(__wrap_)
#undef COPIES

// ---- -fsanitize=thread: atomics, which the hooks carry out ----

#define ATOMIC_UPDATE(BITS, T, NAME)                                  \
  T __tsan_atomic##BITS##_##NAME(volatile T* p, T value, int order) { \
    touch_atomically(p, sizeof(T), Way::kUpdate, order, CALLER);      \
    return __atomic_##NAME(p, value, __ATOMIC_SEQ_CST);               \
  }

#define ATOMICS(BITS, T)                                                                          \
  T __tsan_atomic##BITS##_load(const volatile T* p, int order) {                                  \
    touch_atomically(p, sizeof(T), Way::kRead, order, CALLER);                                    \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                  \
  }                                                                                               \
  void __tsan_atomic##BITS##_store(volatile T* p, T value, int order) {                           \
    touch_atomically(p, sizeof(T), Way::kWrite, order, CALLER);                                   \
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                               \
  T __tsan_atomic##BITS##_exchange(volatile T* p, T value, int order) {                           \
    touch_atomically(p, sizeof(T), Way::kUpdate, order, CALLER);                                  \
    return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                       \
  }                                                                                               \
  ATOMIC_UPDATE(BITS, T, fetch_add)                                                               \
  ATOMIC_UPDATE(BITS, T, fetch_sub)                                                               \
  ATOMIC_UPDATE(BITS, T, fetch_and)                                                               \
  ATOMIC_UPDATE(BITS, T, fetch_or)                                                                \
  ATOMIC_UPDATE(BITS, T, fetch_xor)                                                               \
  ATOMIC_UPDATE(BITS, T, fetch_nand)                                                              \
  int __tsan_atomic##BITS##_compare_exchange_strong(volatile T* p, T* expected, T value,          \
                                                    int order, int) {                             \
    touch_atomically(p, sizeof(T), Way::kUpdate, order, CALLER);                                  \
    return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST,               \
                                       __ATOMIC_SEQ_CST);                                         \
  }                                                                                               \
  int __tsan_atomic##BITS##_compare_exchange_weak(volatile T* p, T* expected, T value, int order, \
                                                  int) {                                          \
    touch_atomically(p, sizeof(T), Way::kUpdate, order, CALLER);                                  \
    return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST,               \
                                       __ATOMIC_SEQ_CST);                                         \
  }                                                                                               \
  T __tsan_atomic##BITS##_compare_exchange_val(volatile T* p, T expected, T value, int order,     \
                                               int) {                                             \
    touch_atomically(p, sizeof(T), Way::kUpdate, order, CALLER);                                  \
    __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
    return expected;                                                                              \
  }

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
#undef ATOMICS
#undef ATOMIC_UPDATE

using Wide = unsigned __int128;

Wide __tsan_atomic128_load(const volatile Wide* p, int order) {
  touch_atomically(p, sizeof(Wide), Way::kRead, order, CALLER);
  const Lock lock(wide_atomics);
  return *p;
}

void __tsan_atomic128_store(volatile Wide* p, Wide value, int order) {
  touch_atomically(p, sizeof(Wide), Way::kWrite, order, CALLER);
  const Lock lock(wide_atomics);
  *p = value;
}

Wide __tsan_atomic128_exchange(volatile Wide* p, Wide value, int order) {
  touch_atomically(p, sizeof(Wide), Way::kUpdate, order, CALLER);
  const Lock lock(wide_atomics);
  const Wide before = *p;
  *p = value;
  return before;
}

Wide __tsan_atomic128_compare_exchange_val(volatile Wide* p, Wide expected, Wide value, int order,
                                           int) {
  touch_atomically(p, sizeof(Wide), Way::kUpdate, order, CALLER);
  const Lock lock(wide_atomics);
  const Wide before = *p;
  if (before == expected) *p = value;
  return before;
}

void __tsan_atomic_thread_fence(int order) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (in_kernel() && releases(order)) {
    fictl_emu::check::fence(*fictl_emu::current(), FICTL_EMU_DEVICE);
  }
}
void __tsan_atomic_signal_fence(int) {}

// ---- -fsanitize=alignment,bounds ----

struct UbsanLocation {
  const char* file;
  uint32_t line, column;
};
struct UbsanType {
  uint16_t kind, info;
  char name[1];
};
struct UbsanMismatch {
  UbsanLocation location;
  const UbsanType* type;
  uint8_t alignment_log2, kind;
};
struct UbsanIndex {
  UbsanLocation location;
  const UbsanType *array, *index;
};
struct UbsanAssumption {
  UbsanLocation location, assumption;
  const UbsanType* type;
};

static void misaligned(const char* address, const UbsanType* type, size_t alignment,
                       const void* pc) {
  if (in_kernel()) fictl_emu::check::stop_misaligned(address, type->name, alignment, pc);
}

void __ubsan_handle_type_mismatch_v1(const UbsanMismatch* data, const char* address) {
  misaligned(address, data->type, size_t{1} << data->alignment_log2, CALLER);
}

void __ubsan_handle_alignment_assumption(const UbsanAssumption* data, const char* address,
                                         size_t alignment, size_t offset) {
  misaligned(address - offset, data->type, alignment, CALLER);
}

void __ubsan_handle_out_of_bounds(const UbsanIndex* data, intptr_t index) {
  if (in_kernel()) fictl_emu::check::stop_bad_index(index, data->array->name, CALLER);
}
}
#pragma GCC visibility pop
