// Integer and bit instructions.
#pragma once

#include <fictl_emu/ptx/registers.h>

#include <limits>

namespace fictl_emu::ptx {

template <class T>
constexpr int kWidth = sizeof(T) * 8;

template <class T>
struct WideOf;
template <>
struct WideOf<uint16_t> {
  using type = uint32_t;
};
template <>
struct WideOf<int16_t> {
  using type = int32_t;
};
template <>
struct WideOf<uint32_t> {
  using type = uint64_t;
};
template <>
struct WideOf<int32_t> {
  using type = int64_t;
};
template <>
struct WideOf<uint64_t> {
  using type = unsigned __int128;
};
template <>
struct WideOf<int64_t> {
  using type = __int128;
};
template <class T>
using Wide = typename WideOf<T>::type;

template <class T>
inline T mul_hi(T a, T b) {
  return static_cast<T>(static_cast<Wide<T>>(a) * b >> kWidth<T>);
}
template <class T>
inline Wide<T> mul_wide(T a, T b) {
  return static_cast<Wide<T>>(a) * b;
}
template <class T>
inline T mul24_lo(T a, T b) {
  const auto cut = [](T x) { return static_cast<T>(static_cast<T>(x << 8) >> 8); };
  return static_cast<T>(cut(a) * cut(b));
}
template <class T>
inline T mad_lo(T a, T b, T c) {
  return static_cast<T>(a * b + c);
}
template <class T>
inline T mad_hi(T a, T b, T c) {
  return static_cast<T>(mul_hi(a, b) + c);
}
template <class T>
inline Wide<T> mad_wide(T a, T b, Wide<T> c) {
  return mul_wide(a, b) + c;
}

inline int32_t clamp(int64_t value) {
  if (value > INT32_MAX) return INT32_MAX;
  return value < INT32_MIN ? INT32_MIN : static_cast<int32_t>(value);
}
inline int32_t add_sat(int32_t a, int32_t b) { return clamp(int64_t{a} + b); }
inline int32_t sub_sat(int32_t a, int32_t b) { return clamp(int64_t{a} - b); }

// Why the first case: a division by zero gives all ones on a GPU and ends a process on a CPU.
template <class T>
inline T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if (std::is_signed<T>::value && b == static_cast<T>(-1)) return static_cast<T>(0 - a);
  return static_cast<T>(a / b);
}
template <class T>
inline T rem(T a, T b) {
  return b == 0 ? a : static_cast<T>(a - quotient(a, b) * b);
}
template <class T>
inline T sad(T a, T b, T c) {
  return static_cast<T>(c + (a < b ? b - a : a - b));
}

template <class T>
inline T and_(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
inline T or_(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
inline T xor_(T a, T b) {
  return static_cast<T>(a ^ b);
}
inline bool not_(bool a) { return !a; }
template <class T>
inline T not_(T a) {
  return static_cast<T>(~a);
}
template <class T>
inline T cnot(T a) {
  return static_cast<T>(a == 0);
}

template <class T>
inline T shl(T a, uint32_t by) {
  return by >= kWidth<T> ? T{0} : static_cast<T>(a << by);
}
template <class T>
inline T shr(T a, uint32_t by) {
  if (by >= kWidth<T>) return std::is_signed<T>::value && a < 0 ? static_cast<T>(-1) : T{0};
  return static_cast<T>(a >> by);
}

// Funnel shifts: of high:low, the upper half of the result to the left, the lower to the right.
inline uint32_t shf_left(uint32_t low, uint32_t high, uint32_t by) {
  return static_cast<uint32_t>(((uint64_t{high} << 32 | low) << by) >> 32);
}
inline uint32_t shf_right(uint32_t low, uint32_t high, uint32_t by) {
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> by);
}
inline uint32_t shf_l_wrap(uint32_t a, uint32_t b, uint32_t by) { return shf_left(a, b, by & 31); }
inline uint32_t shf_r_wrap(uint32_t a, uint32_t b, uint32_t by) { return shf_right(a, b, by & 31); }
inline uint32_t shf_l_clamp(uint32_t a, uint32_t b, uint32_t by) {
  return by >= 32 ? a : shf_left(a, b, by);
}
inline uint32_t shf_r_clamp(uint32_t a, uint32_t b, uint32_t by) {
  return by >= 32 ? b : shf_right(a, b, by);
}

template <class T>
inline T bfe(T a, uint32_t position, uint32_t length) {
  position &= 0xff;
  length &= 0xff;
  if (length == 0) return 0;
  if (position + length >= kWidth<T>) return shr(a, position);
  const uint32_t unused = kWidth<T> - length;
  return shr(shl(a, unused - position), unused);
}
template <class T>
inline T bfi(T field, T into, uint32_t position, uint32_t length) {
  position &= 0xff;
  length &= 0xff;
  const T mask = shl(
      length >= kWidth<T> ? static_cast<T>(-1) : static_cast<T>((T{1} << length) - 1), position);
  return static_cast<T>((shl(field, position) & mask) | (into & ~mask));
}

inline uint32_t popc(uint32_t a) { return static_cast<uint32_t>(__builtin_popcount(a)); }
inline uint32_t popc(uint64_t a) { return static_cast<uint32_t>(__builtin_popcountll(a)); }
inline uint32_t clz(uint32_t a) { return a == 0 ? 32 : static_cast<uint32_t>(__builtin_clz(a)); }
inline uint32_t clz(uint64_t a) { return a == 0 ? 64 : static_cast<uint32_t>(__builtin_clzll(a)); }
// The highest bit that differs from the sign.
template <class T>
inline uint32_t bfind(T a) {
  const auto code = static_cast<Bits<T>>(std::is_signed<T>::value && a < 0 ? ~a : a);
  return code == 0 ? 0xffffffffu : kWidth<T> - 1 - clz(code);
}
template <class T>
inline uint32_t bfind_shiftamt(T a) {
  const uint32_t found = bfind(a);
  return found == 0xffffffffu ? found : kWidth<T> - 1 - found;
}
template <class T>
inline T brev(T a) {
  T reversed = 0;
  for (int i = 0; i < kWidth<T>; ++i) reversed |= (a >> i & T{1}) << (kWidth<T> - 1 - i);
  return reversed;
}
inline uint32_t bmsk_clamp(uint32_t position, uint32_t length) {
  return shl(length >= 32 ? ~0u : (1u << length) - 1, position);
}
inline uint32_t bmsk_wrap(uint32_t position, uint32_t length) {
  return bmsk_clamp(position & 31, length & 31);
}

// One bit of the table for each of the eight combinations of a, b and c.
template <class T>
inline T lop3(T a, T b, T c, uint32_t table) {
  T result = 0;
  for (int i = 0; i < 8; ++i) {
    if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  }
  return result;
}

// Four of the eight bytes of b:a; the top bit of a selector spreads the byte's sign.
inline uint32_t prmt(uint32_t a, uint32_t b, uint32_t selectors) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t selector = selectors >> 4 * i & 15;
    uint32_t byte = static_cast<uint32_t>(bytes >> 8 * (selector & 7)) & 0xff;
    if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}
inline uint32_t prmt_f4e(uint32_t a, uint32_t b, uint32_t from) {
  return prmt(a, b, 0x3210 + 0x1111 * (from & 3));
}
inline uint32_t prmt_b4e(uint32_t a, uint32_t b, uint32_t from) {
  return prmt(a, b, uint32_t{0x5670} + 0x1111 * (from & 3) & 0x7777);
}
inline uint32_t prmt_rc8(uint32_t a, uint32_t, uint32_t from) {
  return prmt(a, 0, 0x1111 * (from & 3));
}
inline uint32_t prmt_ecl(uint32_t a, uint32_t, uint32_t from) {
  constexpr uint32_t kSelectors[] = {0x3210, 0x3211, 0x3222, 0x3333};
  return prmt(a, 0, kSelectors[from & 3]);
}
inline uint32_t prmt_ecr(uint32_t a, uint32_t, uint32_t from) {
  constexpr uint32_t kSelectors[] = {0x0000, 0x1110, 0x2210, 0x3210};
  return prmt(a, 0, kSelectors[from & 3]);
}
inline uint32_t prmt_rc16(uint32_t a, uint32_t, uint32_t from) {
  return prmt(a, 0, from & 1 ? 0x3232 : 0x1010);
}

// Dot products of bytes; A and B are the types of the bytes.
template <class A, class B, class T>
inline T dp4a(uint32_t a, uint32_t b, T c) {
  for (int i = 0; i < 4; ++i) {
    c += static_cast<T>(static_cast<A>(a >> 8 * i)) * static_cast<T>(static_cast<B>(b >> 8 * i));
  }
  return c;
}
template <int first, class A, class B, class T>
inline T dp2a(uint32_t a, uint32_t b, T c) {
  using A16 = std::conditional_t<std::is_signed<A>::value, int16_t, uint16_t>;
  for (int i = 0; i < 2; ++i) {
    c += static_cast<T>(static_cast<A16>(a >> 16 * i)) *
         static_cast<T>(static_cast<B>(b >> 8 * (first + i)));
  }
  return c;
}

}  // namespace fictl_emu::ptx
