// cvt: between integers, floating-point numbers and the packed formats.
#pragma once

#include <fictl_emu/ptx/floating.h>

namespace fictl_emu::ptx {

// An integer as the nearest that To can hold.
template <class To, class From>
inline To cut(From value) {
  using L = std::numeric_limits<To>;
  const auto wide = static_cast<__int128>(value);
  if (wide > static_cast<__int128>(L::max())) return L::max();
  if (wide < static_cast<__int128>(L::min())) return L::min();
  return static_cast<To>(value);
}

// `integral`: the result is a whole number, whatever its type.
template <class To, Rounding rounding, bool integral = false, class From>
inline To convert(From from) {
  if constexpr (is_integer<To> && is_integer<From>) {
    return static_cast<To>(from);
  } else if constexpr (is_integer<To>) {
    return saturated<To>(static_cast<Host<From>>(to_integer<rounding>(from)));
  } else if constexpr (integral) {
    return static_cast<To>(to_integer<rounding>(static_cast<double>(from)));
  } else if constexpr (is_integer<From> && rounding == Rounding::kNearest) {
    // A double would round a 64-bit integer first.
    using Exact = std::conditional_t<std::is_same<To, float>::value, float, double>;
    return static_cast<To>(static_cast<Exact>(from));
  } else if constexpr (std::is_same<To, double>::value) {
    return static_cast<double>(from);
  } else if constexpr (rounding == Rounding::kNearest &&
                       (std::is_same<To, float>::value || std::is_same<To, Half>::value ||
                        std::is_same<To, BFloat16>::value)) {
    return static_cast<To>(from);
  } else {
    return static_cast<To>(round_to<To, rounding>(static_cast<double>(from)));
  }
}

// Never infinite: the largest number instead.
template <class To, Rounding rounding, class From>
inline To convert_finite(From from) {
  const double exact = static_cast<double>(from);
  const double nearest = round_to<To, rounding>(exact);
  const double largest = Limits<To>::kLargest;
  return static_cast<To>(std::fabs(nearest) > largest ? std::copysign(largest, exact) : nearest);
}

template <class To, Rounding rounding, bool finite, class From>
inline To convert_one(From from) {
  if constexpr (finite)
    return convert_finite<To, rounding>(from);
  else
    return convert<To, rounding>(from);
}
// The first goes to the upper half.
template <class To, Rounding rounding, bool finite, class From>
inline Pair<To> convert_pair(From high, From low) {
  return {convert_one<To, rounding, finite>(low), convert_one<To, rounding, finite>(high)};
}
template <class To, Rounding rounding, bool finite, class From>
inline Pair<To> convert_pair(Pair<From> from) {
  return convert_pair<To, rounding, finite>(from.high, from.low);
}

}  // namespace fictl_emu::ptx
