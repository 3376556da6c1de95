// The type in which arithmetic on an element type is done, and the conversions.
#pragma once

#include <math.h>

#include <fictl/device/element.cuh>

namespace fictl::device {

// fp64 for what fp32 cannot hold exactly.
template <typename T>
struct WideOf {
  using type = float;
};
template <>
struct WideOf<double> {
  using type = double;
};
template <>
struct WideOf<int32_t> {
  using type = double;
};
template <>
struct WideOf<int64_t> {
  using type = double;
};

template <typename T>
using Wide = typename WideOf<T>::type;

template <typename T>
__host__ __device__ Wide<T> widen(T x) {
  if constexpr (sizeof(Wide<T>) == sizeof(double)) {
    return static_cast<double>(x);
  } else {
    return Element<T>::to_float(x);
  }
}

// The range of an integer element type of a number of bits.
template <typename T>
struct IntegerRange;
template <>
struct IntegerRange<int8_t> {
  static constexpr float kLeast = -128.0f, kMost = 127.0f;
};
template <>
struct IntegerRange<uint8_t> {
  static constexpr float kLeast = 0.0f, kMost = 255.0f;
};
template <>
struct IntegerRange<int32_t> {
  static constexpr double kLeast = -2147483648.0, kMost = 2147483647.0;
};
// The largest fp64 below 2^63.
template <>
struct IntegerRange<int64_t> {
  static constexpr double kLeast = -9223372036854775808.0, kMost = 9223372036854774784.0;
};

// Rounded once, to the nearest. Integers saturate, and NaN becomes the smallest; for bool,
// everything but zero is true.
template <typename T>
__host__ __device__ T narrow(Wide<T> x) {
  constexpr int kInt = 0, kUInt = 1, kBool = 6;  // DLPack's codes
  if constexpr (Element<T>::kCode == kInt || Element<T>::kCode == kUInt) {
    constexpr Wide<T> kLeast = IntegerRange<T>::kLeast, kMost = IntegerRange<T>::kMost;
    const Wide<T> near = rint(x);
    return static_cast<T>(near > kLeast ? (near < kMost ? near : kMost) : kLeast);
  } else if constexpr (Element<T>::kCode == kBool) {
    return x != 0;
  } else if constexpr (sizeof(Wide<T>) == sizeof(double)) {
    return static_cast<T>(x);
  } else {
    return Element<T>::from_float(x);
  }
}

}  // namespace fictl::device
