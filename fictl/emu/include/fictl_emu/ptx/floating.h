// Arithmetic and comparison of floating-point numbers, one or two in a register; what integers
// have too goes by the same names.
//
// Results are rounded as asked. Approximations are as exact as the host's functions, and subnormal
// numbers are kept where .ftz lets a GPU drop them.
#pragma once

#include <fictl_emu/ptx/integer.h>
#include <fictl_emu/rounding.h>

namespace fictl_emu::ptx {

template <class T, class F>
inline T each(F function, T a) {
  return function(a);
}
template <class T, class F>
inline Pair<T> each(F function, Pair<T> a) {
  return {function(a.low), function(a.high)};
}
template <class T, class F>
inline T each(F function, T a, T b) {
  return function(a, b);
}
template <class T, class F>
inline Pair<T> each(F function, Pair<T> a, Pair<T> b) {
  return {function(a.low, b.low), function(a.high, b.high)};
}
template <class T, class F>
inline T each(F function, T a, T b, T c) {
  return function(a, b, c);
}
template <class T, class F>
inline Pair<T> each(F function, Pair<T> a, Pair<T> b, Pair<T> c) {
  return {function(a.low, b.low, c.low), function(a.high, b.high, c.high)};
}

constexpr int host_mode(Rounding rounding) {
  if (rounding == Rounding::kDown) return FE_DOWNWARD;
  return rounding == Rounding::kUp ? FE_UPWARD : FE_TOWARDZERO;
}

// `function` of numbers of one type, rounded once. Halves compute as floats, which have more than
// twice their digits.
template <Rounding rounding, class F, class... T>
inline auto compute(F function, T... values) {
  return each(
      [&](auto... x) {
        using U = std::common_type_t<decltype(x)...>;
        if constexpr (rounding == Rounding::kNearest) {
          return static_cast<U>(function(x...));
        } else {
          return static_cast<U>(rounded<host_mode(rounding)>(function, x...));
        }
      },
      values...);
}

template <Rounding rounding = Rounding::kNearest, class T>
inline T add(T x, T y) {
  return compute<rounding>([](auto a, auto b) { return a + b; }, x, y);
}
template <Rounding rounding = Rounding::kNearest, class T>
inline T sub(T x, T y) {
  return compute<rounding>([](auto a, auto b) { return a - b; }, x, y);
}
template <Rounding rounding = Rounding::kNearest, class T>
inline T mul(T x, T y) {
  return compute<rounding>([](auto a, auto b) { return a * b; }, x, y);
}
template <Rounding rounding = Rounding::kNearest, class T>
inline T div(T x, T y) {
  if constexpr (is_integer<T>) {
    return quotient(x, y);
  } else {
    return compute<rounding>([](auto a, auto b) { return a / b; }, x, y);
  }
}
template <Rounding rounding = Rounding::kNearest, class T>
inline T fma(T x, T y, T z) {
  return compute<rounding>(
      [](auto a, auto b, auto c) {
        // The product of two halves has more digits than a float.
        using Exact = std::conditional_t<std::is_same<decltype(a), float>::value, float, double>;
        return std::fma(static_cast<Exact>(a), static_cast<Exact>(b), static_cast<Exact>(c));
      },
      x, y, z);
}

// The type as which a function of <cmath> takes a T.
template <class T>
using Host = std::conditional_t<std::is_same<T, double>::value, double, float>;

template <Rounding rounding = Rounding::kNearest, class T>
inline T sqrt(T x) {
  return compute<rounding>([](auto a) { return std::sqrt(static_cast<Host<decltype(a)>>(a)); }, x);
}
template <Rounding rounding = Rounding::kNearest, class T>
inline T rcp(T x) {
  return compute<rounding>([](auto a) { return 1 / static_cast<Host<decltype(a)>>(a); }, x);
}
template <class T, class F>
inline T approximate(F function, T x) {
  return compute<Rounding::kNearest>(
      [&](auto a) { return function(static_cast<Host<decltype(a)>>(a)); }, x);
}
template <class T>
inline T rsqrt(T x) {
  return approximate([](auto a) { return 1 / std::sqrt(a); }, x);
}
template <class T>
inline T ex2(T x) {
  return approximate([](auto a) { return std::exp2(a); }, x);
}
template <class T>
inline T lg2(T x) {
  return approximate([](auto a) { return std::log2(a); }, x);
}
template <class T>
inline T sin(T x) {
  return approximate([](auto a) { return std::sin(a); }, x);
}
template <class T>
inline T cos(T x) {
  return approximate([](auto a) { return std::cos(a); }, x);
}
template <class T>
inline T tanh(T x) {
  return approximate([](auto a) { return std::tanh(a); }, x);
}

template <class T>
inline T abs(T x) {
  if constexpr (is_integer<T>)
    return static_cast<T>(x < 0 ? 0 - x : x);
  else
    return approximate([](auto a) { return std::fabs(a); }, x);
}
template <class T>
inline T neg(T x) {
  return compute<Rounding::kNearest>([](auto a) { return -a; }, x);
}
// PTX: the sign of the first, the rest of the second.
template <class T>
inline T copysign(T sign, T value) {
  return std::copysign(value, sign);
}

// A number wins against NaN; min_nan and max_nan give NaN then.
template <class T>
inline T min(T x, T y) {
  if constexpr (is_integer<T>)
    return y < x ? y : x;
  else
    return each([](auto a, auto b) { return b < a || a != a ? b : a; }, x, y);
}
template <class T>
inline T max(T x, T y) {
  if constexpr (is_integer<T>)
    return x < y ? y : x;
  else
    return each([](auto a, auto b) { return a < b || a != a ? b : a; }, x, y);
}
template <class T>
inline T min_nan(T x, T y) {
  return each([](auto a, auto b) { return b < a || b != b ? b : a; }, x, y);
}
template <class T>
inline T max_nan(T x, T y) {
  return each([](auto a, auto b) { return a < b || b != b ? b : a; }, x, y);
}

template <class T>
inline T relu(T x) {
  if constexpr (is_integer<T>)
    return x < 0 ? T{0} : x;
  else
    return each([](auto a) { return a > 0 || a != a ? a : decltype(a){}; }, x);  // nor -0
}
// To 0..1; NaN becomes 0.
template <class T>
inline T saturate(T x) {
  return each(
      [](auto a) {
        using U = decltype(a);
        return a > 0 ? (a < 1 ? a : static_cast<U>(1.0f)) : static_cast<U>(0.0f);
      },
      x);
}

// ---- comparison ----

template <class T>
inline bool unordered(T a, T b) {
  return a != a || b != b;
}
template <class T>
inline bool eq(T a, T b) {
  return a == b;
}
template <class T>
inline bool ne(T a, T b) {
  return a != b && !unordered(a, b);
}
template <class T>
inline bool lt(T a, T b) {
  return a < b;
}
template <class T>
inline bool le(T a, T b) {
  return a <= b;
}
template <class T>
inline bool gt(T a, T b) {
  return a > b;
}
template <class T>
inline bool ge(T a, T b) {
  return a >= b;
}
template <class T>
inline bool equ(T a, T b) {
  return a == b || unordered(a, b);
}
template <class T>
inline bool neu(T a, T b) {
  return a != b;
}
template <class T>
inline bool ltu(T a, T b) {
  return !(a >= b);
}
template <class T>
inline bool leu(T a, T b) {
  return !(a > b);
}
template <class T>
inline bool gtu(T a, T b) {
  return !(a <= b);
}
template <class T>
inline bool geu(T a, T b) {
  return !(a < b);
}
template <class T>
inline bool num(T a, T b) {
  return !unordered(a, b);
}
template <class T>
inline bool nan(T a, T b) {
  return unordered(a, b);
}

// The values that `set` writes for true and false.
template <class T>
inline T verdict(bool yes) {
  if constexpr (is_integer<T>)
    return yes ? static_cast<T>(-1) : T{0};
  else
    return yes ? static_cast<T>(1.0f) : static_cast<T>(0.0f);
}

template <class T>
inline bool finite(T a) {
  return std::isfinite(a);
}
template <class T>
inline bool infinite(T a) {
  return std::isinf(a);
}
template <class T>
inline bool number(T a) {
  return !std::isnan(a);
}
template <class T>
inline bool notanumber(T a) {
  return std::isnan(a);
}
template <class T>
inline bool normal(T a) {
  return std::isnormal(a);
}
template <class T>
inline bool subnormal(T a) {
  return std::fpclassify(a) == FP_SUBNORMAL;
}

}  // namespace fictl_emu::ptx
