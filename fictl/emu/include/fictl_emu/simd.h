// Integers packed in a 32-bit register: the SIMD functions on two halfwords or four bytes, and the
// fused additions and extrema (DPX).
#pragma once

#include <fictl_emu/abi.h>
#include <fictl_emu/arithmetic.h>
#include <fictl_emu/bits.h>

#include <limits>
#include <type_traits>

namespace fictl_emu {

// Applies `operation` to each element, widened to int, and keeps the low bits of what it gives.
template <class T, class Operation, class... Register>
inline uint32_t each(Operation operation, Register... operands) {
  constexpr int bits = 8 * sizeof(T);
  uint32_t result = 0;
  for (int i = 0; i < 32 / bits; ++i) {
    const auto element = static_cast<std::make_unsigned_t<T>>(operation(packed<T>(operands, i)...));
    result |= static_cast<uint32_t>(element) << (bits * i);
  }
  return result;
}

template <class T>
inline int clamped(int x) {
  constexpr int least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  return x < least ? least : x > most ? most : x;
}

// Half is rounded away from zero.
inline int average(int x, int y) { return (x + y + (x + y >= 0 ? 1 : 0)) >> 1; }

template <class T>
inline uint32_t sum_of_distances(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (int i = 0; i < static_cast<int>(4 / sizeof(T)); ++i) {
    sum += distance<int>(packed<T>(a, i), packed<T>(b, i));
  }
  return sum;
}

}  // namespace fictl_emu

#define FICTL_EMU_SIMD1(name, T, expression)                          \
  inline unsigned name(unsigned a) {                                  \
    return ::fictl_emu::each<T>([](int x) { return expression; }, a); \
  }
#define FICTL_EMU_SIMD2(name, T, expression)                                    \
  inline unsigned name(unsigned a, unsigned b) {                                \
    return ::fictl_emu::each<T>([](int x, int y) { return expression; }, a, b); \
  }
// A comparison in its two forms: all bits of an element, or its lowest.
#define FICTL_EMU_SIMD_COMPARE(relation, sign, width, T, operation)         \
  FICTL_EMU_SIMD2(__vcmp##relation##sign##width, T, x operation y ? -1 : 0) \
  FICTL_EMU_SIMD2(__vset##relation##sign##width, T, x operation y ? 1 : 0)
// All functions of one width, which CUDA's names end in.
#define FICTL_EMU_SIMD(width, S, U)                                            \
  FICTL_EMU_SIMD1(__vabs##width, S, x < 0 ? -x : x)                            \
  FICTL_EMU_SIMD1(__vabsss##width, S, ::fictl_emu::clamped<S>(x < 0 ? -x : x)) \
  FICTL_EMU_SIMD1(__vneg##width, S, -x)                                        \
  FICTL_EMU_SIMD1(__vnegss##width, S, ::fictl_emu::clamped<S>(-x))             \
  FICTL_EMU_SIMD2(__vadd##width, S, x + y)                                     \
  FICTL_EMU_SIMD2(__vaddss##width, S, ::fictl_emu::clamped<S>(x + y))          \
  FICTL_EMU_SIMD2(__vaddus##width, U, ::fictl_emu::clamped<U>(x + y))          \
  FICTL_EMU_SIMD2(__vsub##width, S, x - y)                                     \
  FICTL_EMU_SIMD2(__vsubss##width, S, ::fictl_emu::clamped<S>(x - y))          \
  FICTL_EMU_SIMD2(__vsubus##width, U, ::fictl_emu::clamped<U>(x - y))          \
  FICTL_EMU_SIMD2(__vavgs##width, S, ::fictl_emu::average(x, y))               \
  FICTL_EMU_SIMD2(__vavgu##width, U, (x + y + 1) >> 1)                         \
  FICTL_EMU_SIMD2(__vhaddu##width, U, (x + y) >> 1)                            \
  FICTL_EMU_SIMD2(__vabsdiffs##width, S, ::fictl_emu::distance(x, y))          \
  FICTL_EMU_SIMD2(__vabsdiffu##width, U, ::fictl_emu::distance(x, y))          \
  FICTL_EMU_SIMD2(__vmaxs##width, S, x > y ? x : y)                            \
  FICTL_EMU_SIMD2(__vmaxu##width, U, x > y ? x : y)                            \
  FICTL_EMU_SIMD2(__vmins##width, S, x < y ? x : y)                            \
  FICTL_EMU_SIMD2(__vminu##width, U, x < y ? x : y)                            \
  FICTL_EMU_SIMD_COMPARE(eq, , width, U, ==)                                   \
  FICTL_EMU_SIMD_COMPARE(ne, , width, U, !=)                                   \
  FICTL_EMU_SIMD_COMPARE(ge, s, width, S, >=)                                  \
  FICTL_EMU_SIMD_COMPARE(ge, u, width, U, >=)                                  \
  FICTL_EMU_SIMD_COMPARE(gt, s, width, S, >)                                   \
  FICTL_EMU_SIMD_COMPARE(gt, u, width, U, >)                                   \
  FICTL_EMU_SIMD_COMPARE(le, s, width, S, <=)                                  \
  FICTL_EMU_SIMD_COMPARE(le, u, width, U, <=)                                  \
  FICTL_EMU_SIMD_COMPARE(lt, s, width, S, <)                                   \
  FICTL_EMU_SIMD_COMPARE(lt, u, width, U, <)                                   \
  inline unsigned __vsads##width(unsigned a, unsigned b) {                     \
    return ::fictl_emu::sum_of_distances<S>(a, b);                             \
  }                                                                            \
  inline unsigned __vsadu##width(unsigned a, unsigned b) {                     \
    return ::fictl_emu::sum_of_distances<U>(a, b);                             \
  }

FICTL_EMU_SIMD(2, int16_t, uint16_t)
FICTL_EMU_SIMD(4, int8_t, uint8_t)

#undef FICTL_EMU_SIMD
#undef FICTL_EMU_SIMD_COMPARE
#undef FICTL_EMU_SIMD2
#undef FICTL_EMU_SIMD1

// ---- DPX ----

// The functions of one type for max and min; `x2` are pairs in one register.
#define FICTL_EMU_DPX(extremum, suffix, T)                                                   \
  inline T __vi##extremum##3_##suffix(T a, T b, T c) { return extremum(extremum(a, b), c); } \
  inline T __viadd##extremum##_##suffix(T a, T b, T c) {                                     \
    return extremum(static_cast<T>(a + b), c);                                               \
  }
#define FICTL_EMU_DPX_RELU(extremum)                                                    \
  inline int __vi##extremum##_s32_relu(int a, int b) { return max(extremum(a, b), 0); } \
  inline int __vi##extremum##3_s32_relu(int a, int b, int c) {                          \
    return max(extremum(extremum(a, b), c), 0);                                         \
  }                                                                                     \
  inline int __viadd##extremum##_s32_relu(int a, int b, int c) {                        \
    return max(extremum(a + b, c), 0);                                                  \
  }                                                                                     \
  inline unsigned __vi##extremum##_s16x2_relu(unsigned a, unsigned b) {                 \
    return __vmaxs2(__v##extremum##s2(a, b), 0);                                        \
  }                                                                                     \
  inline unsigned __vi##extremum##3_s16x2_relu(unsigned a, unsigned b, unsigned c) {    \
    return __vmaxs2(__v##extremum##s2(__v##extremum##s2(a, b), c), 0);                  \
  }                                                                                     \
  inline unsigned __viadd##extremum##_s16x2_relu(unsigned a, unsigned b, unsigned c) {  \
    return __vmaxs2(__v##extremum##s2(__vadd2(a, b), c), 0);                            \
  }
#define FICTL_EMU_DPX_PAIRS(extremum, suffix, sign)                                  \
  inline unsigned __vi##extremum##3_##suffix(unsigned a, unsigned b, unsigned c) {   \
    return __v##extremum##sign##2(__v##extremum##sign##2(a, b), c);                  \
  }                                                                                  \
  inline unsigned __viadd##extremum##_##suffix(unsigned a, unsigned b, unsigned c) { \
    return __v##extremum##sign##2(__vadd2(a, b), c);                                 \
  }
// The extremum, and whether it is the first operand.
#define FICTL_EMU_DPX_WHICH(extremum, suffix, T)               \
  inline T __vib##extremum##_##suffix(T a, T b, bool* first) { \
    const T result = extremum(a, b);                           \
    *first = result == a;                                      \
    return result;                                             \
  }
#define FICTL_EMU_DPX_WHICH_PAIRS(extremum, suffix, sign)                                     \
  inline unsigned __vib##extremum##_##suffix(unsigned a, unsigned b, bool* high, bool* low) { \
    const unsigned result = __v##extremum##sign##2(a, b);                                     \
    *high = result >> 16 == a >> 16;                                                          \
    *low = (result & 0xffff) == (a & 0xffff);                                                 \
    return result;                                                                            \
  }
#define FICTL_EMU_DPX_ALL(extremum)             \
  FICTL_EMU_DPX(extremum, s32, int)             \
  FICTL_EMU_DPX(extremum, u32, unsigned)        \
  FICTL_EMU_DPX_PAIRS(extremum, s16x2, s)       \
  FICTL_EMU_DPX_PAIRS(extremum, u16x2, u)       \
  FICTL_EMU_DPX_RELU(extremum)                  \
  FICTL_EMU_DPX_WHICH(extremum, s32, int)       \
  FICTL_EMU_DPX_WHICH(extremum, u32, unsigned)  \
  FICTL_EMU_DPX_WHICH_PAIRS(extremum, s16x2, s) \
  FICTL_EMU_DPX_WHICH_PAIRS(extremum, u16x2, u)

FICTL_EMU_DPX_ALL(max)
FICTL_EMU_DPX_ALL(min)

#undef FICTL_EMU_DPX_ALL
#undef FICTL_EMU_DPX_WHICH_PAIRS
#undef FICTL_EMU_DPX_WHICH
#undef FICTL_EMU_DPX_PAIRS
#undef FICTL_EMU_DPX_RELU
#undef FICTL_EMU_DPX
