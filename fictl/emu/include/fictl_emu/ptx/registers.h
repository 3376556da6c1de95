// Between C++ values and PTX registers, and between registers and what an instruction takes them
// for: a .b32 register may hold an integer, a float or two halves.
#pragma once

#include <fictl_emu/abi.h>
#include <fictl_emu/ptx/formats.h>

#include <time.h>

#include <cstring>
#include <type_traits>

namespace fictl_emu::ptx {

template <size_t bytes>
struct BitsOf;
template <>
struct BitsOf<1> {
  using type = uint8_t;
};
template <>
struct BitsOf<2> {
  using type = uint16_t;
};
template <>
struct BitsOf<4> {
  using type = uint32_t;
};
template <>
struct BitsOf<8> {
  using type = uint64_t;
};
template <>
struct BitsOf<16> {
  using type = unsigned __int128;
};
template <class T>
using Bits = typename BitsOf<sizeof(T)>::type;

template <class T>
constexpr bool is_integer = std::is_integral<T>::value || std::is_same<T, unsigned __int128>::value;

// The operand `_`: a result that is dropped.
struct Sink {};

// `from` taken for a To. Integers are cut or extended, by the sign if they have one.
template <class To, class From>
inline To get(From from) {
  if constexpr (std::is_same<To, From>::value) {
    return from;
  } else if constexpr (std::is_same<From, Sink>::value) {
    return To{};
  } else if constexpr ((is_integer<To> && is_integer<From>) ||
                       (std::is_same<To, float>::value && std::is_same<From, double>::value)) {
    return static_cast<To>(from);  // a decimal number in the text is a double
  } else {
    Bits<From> raw;
    memcpy(&raw, &from, sizeof raw);
    const auto sized = static_cast<Bits<To>>(raw);
    To to;
    memcpy(static_cast<void*>(&to), &sized, sizeof to);
    return to;
  }
}

template <class Register, class Value>
inline void set(Register& to, Value value) {
  to = get<Register>(value);
}

template <class Value>
inline void set(const Sink&, Value) {}

// An input operand of an asm statement: the value of a C++ expression in a register.
template <class Register, class Value>
inline Register in(Value value) {
  if constexpr (std::is_pointer<Value>::value) {
    return static_cast<Register>(reinterpret_cast<uintptr_t>(value));
  } else if constexpr (std::is_arithmetic<Value>::value || std::is_enum<Value>::value ||
                       is_integer<Value>) {
    return static_cast<Register>(value);
  } else {
    static_assert(sizeof(Value) <= sizeof(Register), "an operand of asm is as large as a register");
    Register to{};
    memcpy(&to, static_cast<const void*>(&value), sizeof value);
    return to;
  }
}

// An output operand: what its C++ expression becomes.
template <class Value, class Register>
inline Value out(Register from) {
  if constexpr (std::is_pointer<Value>::value) {
    return reinterpret_cast<Value>(static_cast<uintptr_t>(from));
  } else if constexpr (std::is_arithmetic<Value>::value || std::is_enum<Value>::value ||
                       is_integer<Value>) {
    return static_cast<Value>(from);
  } else {
    static_assert(sizeof(Value) <= sizeof(Register), "an operand of asm is as large as a register");
    Value to;
    memcpy(static_cast<void*>(&to), &from, sizeof to);
    return to;
  }
}

// ---- special registers ----

inline uint32_t lane() { return fictl_emu_registers.lane; }
inline uint32_t lanes_below() { return (uint32_t{1} << lane()) - 1; }
inline uint32_t lanes_up_to() { return lanes_below() * 2 + 1; }
inline uint32_t warps() { return (blockDim.x * blockDim.y * blockDim.z + 31) / 32; }

inline uint64_t nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace fictl_emu::ptx
