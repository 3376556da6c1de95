// Loads, stores, atomics and cp.async. Plain accesses are ordinary C++, so that check mode sees
// them as it sees a user's.
#pragma once

#include <fictl_emu/ptx/registers.h>

namespace fictl_emu::ptx {

// As one access of the hardware: its size, its alignment.
template <class T, int count>
struct alignas(sizeof(T) * count) Vector {
  T items[count];
};

inline char* generic_address(uint64_t address) {
  return reinterpret_cast<char*>(static_cast<uintptr_t>(address));
}
inline char* shared_address(uint64_t address) {
  return static_cast<char*>(fictl_emu_shared_pointer(static_cast<uint32_t>(address)));
}

// In any block of the cluster; `target` is for an access.
inline char* cluster_address(uint64_t address) {
  return static_cast<char*>(fictl_emu_cluster_pointer(static_cast<uint32_t>(address)));
}
inline char* cluster_target(uint64_t address) {
  return static_cast<char*>(fictl_emu_cluster_target(static_cast<uint32_t>(address)));
}

inline uint32_t cluster_offset(uint64_t address, FICTL_EMU_HERE) {
  return fictl_emu_cluster_address(generic_address(address), file, line);
}
inline uint64_t map_generic_address(uint64_t address, uint32_t rank, FICTL_EMU_HERE) {
  const void* there = fictl_emu_map_shared(generic_address(address), rank, file, line);
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(there));
}
inline uint32_t map_shared_address(uint64_t address, uint32_t rank, FICTL_EMU_HERE) {
  const void* there = fictl_emu_map_shared(cluster_address(address), rank, file, line);
  return fictl_emu_cluster_address(there, file, line);
}

inline uint32_t shared_offset(uint64_t address, FICTL_EMU_HERE) {
  return fictl_emu_shared_address(generic_address(address), file, line);
}

// Shared memory of the cluster is that of the block, too.
inline bool is_in(int space, uint64_t address) {
  const int found = fictl_emu_space(generic_address(address));
  return found == space || (space == FICTL_EMU_PEER && found == FICTL_EMU_SHARED);
}

// A loop that waits for another thread reads in this way: let that one run.
inline void after_spin(FICTL_EMU_HERE) { fictl_emu_yield(0, file, line); }

template <class T>
inline T load(const char* address) {
  return *reinterpret_cast<const T*>(address);
}
template <class T>
inline T load_volatile(const char* address) {
  return *reinterpret_cast<const volatile T*>(address);
}
template <class T>
inline T load_relaxed(const char* address) {
  return get<T>(__atomic_load_n(reinterpret_cast<const Bits<T>*>(address), __ATOMIC_RELAXED));
}
template <class T>
inline T load_acquire(const char* address) {
  return get<T>(__atomic_load_n(reinterpret_cast<const Bits<T>*>(address), __ATOMIC_ACQUIRE));
}

template <class T>
inline void store(char* address, T value) {
  *reinterpret_cast<T*>(address) = value;
}
template <class T>
inline void store_volatile(char* address, T value) {
  *reinterpret_cast<volatile T*>(address) = value;
}
template <class T>
inline void store_relaxed(char* address, T value) {
  __atomic_store_n(reinterpret_cast<Bits<T>*>(address), get<Bits<T>>(value), __ATOMIC_RELAXED);
}
template <class T>
inline void store_release(char* address, T value) {
  __atomic_store_n(reinterpret_cast<Bits<T>*>(address), get<Bits<T>>(value), __ATOMIC_RELEASE);
}

// Changes a T in memory to what `change` makes of it; returns what was there. One that changes
// nothing may be a thread that waits for another.
template <class T, class F>
inline T atomically(char* address, F change, FICTL_EMU_HERE) {
  auto* words = reinterpret_cast<Bits<T>*>(address);
  Bits<T> seen = __atomic_load_n(words, __ATOMIC_RELAXED), wanted;
  do {
    wanted = get<Bits<T>>(change(get<T>(seen)));
  } while (!__atomic_compare_exchange_n(words, &seen, wanted, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED));
  if (seen == wanted) fictl_emu_yield(0, file, line);
  return get<T>(seen);
}
template <class T>
inline T atomic_exch(char* address, T wanted, FICTL_EMU_HERE) {
  auto* words = reinterpret_cast<Bits<T>*>(address);
  const Bits<T> seen = __atomic_exchange_n(words, get<Bits<T>>(wanted), __ATOMIC_ACQ_REL);
  fictl_emu_yield(seen != get<Bits<T>>(wanted), file, line);
  return get<T>(seen);
}
template <class T>
inline T atomic_cas(char* address, T expected, T wanted, FICTL_EMU_HERE) {
  Bits<T> seen = get<Bits<T>>(expected);
  const bool changed =
      __atomic_compare_exchange_n(reinterpret_cast<Bits<T>*>(address), &seen, get<Bits<T>>(wanted),
                                  false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  fictl_emu_yield(changed, file, line);
  return get<T>(seen);
}
template <class T>
inline T wrapping_inc(T value, T limit) {
  return value >= limit ? T{0} : static_cast<T>(value + 1);
}
template <class T>
inline T wrapping_dec(T value, T limit) {
  return value == 0 || value > limit ? limit : static_cast<T>(value - 1);
}

inline void copy_async(char* to, const char* from, uint32_t bytes, uint32_t source_bytes,
                       FICTL_EMU_HERE) {
  fictl_emu_copy_async(to, from, static_cast<int>(bytes), static_cast<int>(source_bytes));
}

}  // namespace fictl_emu::ptx
