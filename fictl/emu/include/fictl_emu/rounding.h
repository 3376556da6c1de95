// Arithmetic and conversions in a chosen rounding mode: exact, because the processor's own mode is
// set around each operation.
#pragma once

#include <fictl_emu/abi.h>
#include <fictl_emu/glibc_names.h>

#include <fenv.h>

#include <limits>
#include <type_traits>

namespace fictl_emu {

// Hides where a value comes from, so that nothing is computed before or after its time: compilers
// do not know that arithmetic depends on the rounding mode.
template <class T>
inline void hide(T& value) {
  __asm__ volatile("" : "+m"(value) : : "memory");
}

template <int Mode, class Operation, class... T>
inline auto rounded(Operation operation, T... operands) {
  const int before = fegetround();
  fesetround(Mode);
  (hide(operands), ...);
  auto result = operation(operands...);
  hide(result);
  fesetround(before);
  return result;
}

// Floating point to integer as the GPU does it: saturating. NaN is zero between types of 32 bits
// and less, else the number with only the highest bit set.
template <class To, class From>
inline To saturated(From whole) {
  using Limits = std::numeric_limits<To>;
  constexpr bool wide = sizeof(To) == 8 || std::is_same<From, double>::value;
  if (whole != whole) return wide ? static_cast<To>(uint64_t{1} << (8 * sizeof(To) - 1)) : To{0};
  if (whole <= static_cast<From>(Limits::min())) return Limits::min();
  // Why not max(): it may not be a value of From, but the power of two behind it is.
  const From end = static_cast<From>(Limits::max() / 2 + 1) * 2;
  return whole >= end ? Limits::max() : static_cast<To>(whole);
}

inline float round_nearest(float x) { return rintf(x); }
inline double round_nearest(double x) { return rint(x); }
inline float round_zero(float x) { return truncf(x); }
inline double round_zero(double x) { return trunc(x); }
inline float round_up(float x) { return ceilf(x); }
inline double round_up(double x) { return ceil(x); }
inline float round_down(float x) { return floorf(x); }
inline double round_down(double x) { return floor(x); }

}  // namespace fictl_emu

// `prefix`_rn, _rz, _ru and _rd.
#define FICTL_EMU_ROUNDED(prefix, To, parameters, operation, ...)       \
  inline To prefix##_rn parameters { return operation(__VA_ARGS__); }   \
  inline To prefix##_rz parameters {                                    \
    return ::fictl_emu::rounded<FE_TOWARDZERO>(operation, __VA_ARGS__); \
  }                                                                     \
  inline To prefix##_ru parameters {                                    \
    return ::fictl_emu::rounded<FE_UPWARD>(operation, __VA_ARGS__);     \
  }                                                                     \
  inline To prefix##_rd parameters {                                    \
    return ::fictl_emu::rounded<FE_DOWNWARD>(operation, __VA_ARGS__);   \
  }

// ---- arithmetic ----

namespace fictl_emu {
inline constexpr auto kAdd = [](auto x, auto y) { return x + y; };
inline constexpr auto kSubtract = [](auto x, auto y) { return x - y; };
inline constexpr auto kMultiply = [](auto x, auto y) { return x * y; };
inline constexpr auto kDivide = [](auto x, auto y) { return x / y; };
inline constexpr auto kReciprocal = [](auto x) { return 1 / x; };
inline constexpr auto kRoot = [](auto x) { return std::sqrt(x); };
inline constexpr auto kFused = [](auto x, auto y, auto z) { return std::fma(x, y, z); };
}  // namespace fictl_emu

FICTL_EMU_ROUNDED(__fadd, float, (float x, float y), ::fictl_emu::kAdd, x, y)
FICTL_EMU_ROUNDED(__fsub, float, (float x, float y), ::fictl_emu::kSubtract, x, y)
FICTL_EMU_ROUNDED(__fmul, float, (float x, float y), ::fictl_emu::kMultiply, x, y)
FICTL_EMU_ROUNDED(__fdiv, float, (float x, float y), ::fictl_emu::kDivide, x, y)
FICTL_EMU_ROUNDED(__frcp, float, (float x), ::fictl_emu::kReciprocal, x)
FICTL_EMU_ROUNDED(__fsqrt, float, (float x), ::fictl_emu::kRoot, x)
FICTL_EMU_ROUNDED(__fmaf, float, (float x, float y, float z), ::fictl_emu::kFused, x, y, z)
FICTL_EMU_ROUNDED(__fmaf_ieee, float, (float x, float y, float z), ::fictl_emu::kFused, x, y, z)
FICTL_EMU_ROUNDED(__dadd, double, (double x, double y), ::fictl_emu::kAdd, x, y)
FICTL_EMU_ROUNDED(__dsub, double, (double x, double y), ::fictl_emu::kSubtract, x, y)
FICTL_EMU_ROUNDED(__dmul, double, (double x, double y), ::fictl_emu::kMultiply, x, y)
FICTL_EMU_ROUNDED(__ddiv, double, (double x, double y), ::fictl_emu::kDivide, x, y)
FICTL_EMU_ROUNDED(__drcp, double, (double x), ::fictl_emu::kReciprocal, x)
FICTL_EMU_ROUNDED(__dsqrt, double, (double x), ::fictl_emu::kRoot, x)
FICTL_EMU_ROUNDED(__fma, double, (double x, double y, double z), ::fictl_emu::kFused, x, y, z)

// The same for pairs.
#define FICTL_EMU_PAIRS(mode)                                            \
  inline float2 __fadd2_##mode(float2 x, float2 y) {                     \
    return {__fadd_##mode(x.x, y.x), __fadd_##mode(x.y, y.y)};           \
  }                                                                      \
  inline float2 __fmul2_##mode(float2 x, float2 y) {                     \
    return {__fmul_##mode(x.x, y.x), __fmul_##mode(x.y, y.y)};           \
  }                                                                      \
  inline float2 __ffma2_##mode(float2 x, float2 y, float2 z) {           \
    return {__fmaf_##mode(x.x, y.x, z.x), __fmaf_##mode(x.y, y.y, z.y)}; \
  }
FICTL_EMU_PAIRS(rn)
FICTL_EMU_PAIRS(rz)
FICTL_EMU_PAIRS(ru)
FICTL_EMU_PAIRS(rd)
#undef FICTL_EMU_PAIRS

// Why in double: the error of its square root and division cannot change the rounding to float.
inline float __frsqrt_rn(float x) { return static_cast<float>(1 / std::sqrt(double{x})); }

// ---- conversions ----

namespace fictl_emu {
inline constexpr auto kToFloat = [](auto x) { return static_cast<float>(x); };
inline constexpr auto kToDouble = [](auto x) { return static_cast<double>(x); };
}  // namespace fictl_emu

FICTL_EMU_ROUNDED(__double2float, float, (double x), ::fictl_emu::kToFloat, x)
FICTL_EMU_ROUNDED(__int2float, float, (int x), ::fictl_emu::kToFloat, x)
FICTL_EMU_ROUNDED(__uint2float, float, (unsigned x), ::fictl_emu::kToFloat, x)
FICTL_EMU_ROUNDED(__ll2float, float, (long long x), ::fictl_emu::kToFloat, x)
FICTL_EMU_ROUNDED(__ull2float, float, (unsigned long long x), ::fictl_emu::kToFloat, x)
FICTL_EMU_ROUNDED(__ll2double, double, (long long x), ::fictl_emu::kToDouble, x)
FICTL_EMU_ROUNDED(__ull2double, double, (unsigned long long x), ::fictl_emu::kToDouble, x)
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }

#undef FICTL_EMU_ROUNDED

#define FICTL_EMU_TO_INTEGER(prefix, From, To)                                                     \
  inline To prefix##_rn(From x) {                                                                  \
    return ::fictl_emu::saturated<To>(::fictl_emu::round_nearest(x));                              \
  }                                                                                                \
  inline To prefix##_rz(From x) { return ::fictl_emu::saturated<To>(::fictl_emu::round_zero(x)); } \
  inline To prefix##_ru(From x) { return ::fictl_emu::saturated<To>(::fictl_emu::round_up(x)); }   \
  inline To prefix##_rd(From x) { return ::fictl_emu::saturated<To>(::fictl_emu::round_down(x)); }

FICTL_EMU_TO_INTEGER(__float2int, float, int)
FICTL_EMU_TO_INTEGER(__float2uint, float, unsigned)
FICTL_EMU_TO_INTEGER(__float2ll, float, long long)
FICTL_EMU_TO_INTEGER(__float2ull, float, unsigned long long)
FICTL_EMU_TO_INTEGER(__double2int, double, int)
FICTL_EMU_TO_INTEGER(__double2uint, double, unsigned)
FICTL_EMU_TO_INTEGER(__double2ll, double, long long)
FICTL_EMU_TO_INTEGER(__double2ull, double, unsigned long long)

#undef FICTL_EMU_TO_INTEGER
