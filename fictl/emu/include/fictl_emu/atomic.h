// Atomic functions: compare-and-exchange loops on words of 2 to 16 bytes.
//
// An operation that cannot change memory or has not (atomicAdd(p, 0), a failed atomicCAS, an
// atomicExch of the value that was there) is how a thread waits for another: it lets others run.
#pragma once

#include <fictl_emu/abi.h>
#include <fictl_emu/bits.h>

#include <atomic>
#include <type_traits>

namespace fictl_emu {

template <size_t Bytes>
struct Word;
template <>
struct Word<2> {
  using type = uint16_t;
};
template <>
struct Word<4> {
  using type = uint32_t;
};
template <>
struct Word<8> {
  using type = uint64_t;
};

// Returns the old value. `change` takes it and returns the new one.
template <class T, class Change>
FICTL_EMU_UNCHECKED T exchange_word(T* address, Change change) {
  using Bits = typename Word<sizeof(T)>::type;
  Bits* word = reinterpret_cast<Bits*>(address);
  Bits before = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &before, bits_as<Bits>(change(bits_as<T>(before))),
                                      false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
  return bits_as<T>(before);
}

// Why a lock: not every processor, and no compiler without a library, has 16 bytes at once.
inline std::atomic_flag wide_lock = ATOMIC_FLAG_INIT;

template <class T, class Change>
FICTL_EMU_UNCHECKED T exchange_wide(T* address, Change change) {
  while (wide_lock.test_and_set(std::memory_order_acquire)) {
  }
  const T before = *address;
  *address = change(before);
  wide_lock.clear(std::memory_order_release);
  return before;
}

// Why the access is told here, and always inline: this is the last place that is in the kernel.
template <class T, class Change>
__forceinline__ T atomically(T* address, Change change) {
  fictl_emu_access(address, sizeof(T), FICTL_EMU_WRITE | FICTL_EMU_ATOMIC);
  if constexpr (sizeof(T) == 16) {
    return exchange_wide(address, change);
  } else {
    return exchange_word(address, change);
  }
}

template <class T>
inline bool same_bits(const T& a, const T& b) {
  return __builtin_memcmp(&a, &b, sizeof(T)) == 0;
}

// The same, for operations that threads also wait with.
template <class T, class Change>
__forceinline__ T atomically_or_yield(T* address, Change change, const char* file, int line) {
  const T before = atomically(address, change);
  if (same_bits(before, change(before))) fictl_emu_yield(0, file, line);
  return before;
}

template <class T>
using If16Bytes = std::enable_if_t<sizeof(T) == 16 && alignof(T) >= 16, T>;

}  // namespace fictl_emu

// One function for each scope: all are as strong as the strongest.
#define FICTL_EMU_SCOPES(define, name, ...) \
  define(name, __VA_ARGS__) define(name##_block, __VA_ARGS__) define(name##_system, __VA_ARGS__)

#define FICTL_EMU_UPDATE(name, T, expression)                                        \
  __forceinline__ T name(T* address, T value) {                                      \
    return ::fictl_emu::atomically(address, [=](T old) -> T { return expression; }); \
  }
#define FICTL_EMU_UPDATE_OR_YIELD(name, T, expression)                \
  __forceinline__ T name(T* address, T value, FICTL_EMU_HERE) {       \
    return ::fictl_emu::atomically_or_yield(                          \
        address, [=](T old) -> T { return expression; }, file, line); \
  }
#define FICTL_EMU_CAS(name, T)                                                          \
  __forceinline__ T name(T* address, T compare, T value, FICTL_EMU_HERE) {              \
    return ::fictl_emu::atomically_or_yield(                                            \
        address, [=](T old) -> T { return old == compare ? value : old; }, file, line); \
  }
#define FICTL_EMU_CAS_WIDE(name, unused)                                                          \
  template <class T>                                                                              \
  __forceinline__::fictl_emu::If16Bytes<T> name(T* address, T compare, T value, FICTL_EMU_HERE) { \
    return ::fictl_emu::atomically_or_yield(                                                      \
        address, [=](T old) { return ::fictl_emu::same_bits(old, compare) ? value : old; }, file, \
        line);                                                                                    \
  }
#define FICTL_EMU_EXCHANGE_WIDE(name, unused)                                               \
  template <class T>                                                                        \
  __forceinline__::fictl_emu::If16Bytes<T> name(T* address, T value, FICTL_EMU_HERE) {      \
    return ::fictl_emu::atomically_or_yield(address, [=](T) { return value; }, file, line); \
  }

FICTL_EMU_SCOPES(FICTL_EMU_UPDATE_OR_YIELD, atomicAdd, int, old + value)
FICTL_EMU_SCOPES(FICTL_EMU_UPDATE_OR_YIELD, atomicAdd, unsigned, old + value)
FICTL_EMU_SCOPES(FICTL_EMU_UPDATE_OR_YIELD, atomicAdd, unsigned long long, old + value)
FICTL_EMU_SCOPES(FICTL_EMU_UPDATE, atomicAdd, float, old + value)
FICTL_EMU_SCOPES(FICTL_EMU_UPDATE, atomicAdd, double, old + value)
FICTL_EMU_SCOPES(FICTL_EMU_UPDATE_OR_YIELD, atomicSub, int, old - value)
FICTL_EMU_SCOPES(FICTL_EMU_UPDATE_OR_YIELD, atomicSub, unsigned, old - value)

FICTL_EMU_SCOPES(FICTL_EMU_UPDATE_OR_YIELD, atomicExch, int, value)
FICTL_EMU_SCOPES(FICTL_EMU_UPDATE_OR_YIELD, atomicExch, unsigned, value)
FICTL_EMU_SCOPES(FICTL_EMU_UPDATE_OR_YIELD, atomicExch, unsigned long long, value)
FICTL_EMU_SCOPES(FICTL_EMU_UPDATE_OR_YIELD, atomicExch, float, value)
FICTL_EMU_SCOPES(FICTL_EMU_EXCHANGE_WIDE, atomicExch, )

FICTL_EMU_SCOPES(FICTL_EMU_CAS, atomicCAS, unsigned short)
FICTL_EMU_SCOPES(FICTL_EMU_CAS, atomicCAS, int)
FICTL_EMU_SCOPES(FICTL_EMU_CAS, atomicCAS, unsigned)
FICTL_EMU_SCOPES(FICTL_EMU_CAS, atomicCAS, unsigned long long)
FICTL_EMU_SCOPES(FICTL_EMU_CAS_WIDE, atomicCAS, )

#define FICTL_EMU_EXTREMA(T)                                                  \
  FICTL_EMU_SCOPES(FICTL_EMU_UPDATE, atomicMin, T, value < old ? value : old) \
  FICTL_EMU_SCOPES(FICTL_EMU_UPDATE, atomicMax, T, value > old ? value : old)
FICTL_EMU_EXTREMA(int)
FICTL_EMU_EXTREMA(unsigned)
FICTL_EMU_EXTREMA(long long)
FICTL_EMU_EXTREMA(unsigned long long)
#undef FICTL_EMU_EXTREMA

FICTL_EMU_SCOPES(FICTL_EMU_UPDATE, atomicInc, unsigned, old >= value ? 0 : old + 1)
FICTL_EMU_SCOPES(FICTL_EMU_UPDATE, atomicDec, unsigned, old == 0 || old > value ? value : old - 1)

#define FICTL_EMU_BITWISE(T)                                            \
  FICTL_EMU_SCOPES(FICTL_EMU_UPDATE_OR_YIELD, atomicAnd, T, old& value) \
  FICTL_EMU_SCOPES(FICTL_EMU_UPDATE_OR_YIELD, atomicOr, T, old | value) \
  FICTL_EMU_SCOPES(FICTL_EMU_UPDATE_OR_YIELD, atomicXor, T, old ^ value)
FICTL_EMU_BITWISE(int)
FICTL_EMU_BITWISE(unsigned)
FICTL_EMU_BITWISE(unsigned long long)
#undef FICTL_EMU_BITWISE

// Vectors: each element by itself is atomic.
#define FICTL_EMU_ADD_VECTOR(name, T)                                            \
  __forceinline__ T name(T* address, T value) {                                  \
    float* elements = reinterpret_cast<float*>(address);                         \
    const float* values = reinterpret_cast<const float*>(&value);                \
    T before;                                                                    \
    for (size_t i = 0; i < sizeof(T) / sizeof(float); ++i) {                     \
      reinterpret_cast<float*>(&before)[i] = atomicAdd(elements + i, values[i]); \
    }                                                                            \
    return before;                                                               \
  }
FICTL_EMU_SCOPES(FICTL_EMU_ADD_VECTOR, atomicAdd, float2)
FICTL_EMU_SCOPES(FICTL_EMU_ADD_VECTOR, atomicAdd, float4)
#undef FICTL_EMU_ADD_VECTOR

#undef FICTL_EMU_EXCHANGE_WIDE
#undef FICTL_EMU_CAS_WIDE
#undef FICTL_EMU_CAS
#undef FICTL_EMU_UPDATE_OR_YIELD
