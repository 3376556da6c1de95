// The number formats of PTX that C++ has no type for, and rounding into any of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace fictl_emu::ptx {

enum class Rounding { kNearest, kZero, kDown, kUp, kAway };

template <class To, class From>
inline To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

inline float half_to_float(uint16_t half) {
  // The product moves the exponent from one bias to the other, of subnormal numbers too.
  const uint32_t magnitude = uint32_t{half & 0x7fffu} << 13;
  const uint32_t scaled = bits<uint32_t>(bits<float>(magnitude) * 0x1p112f);
  const uint32_t finite = magnitude < (0x7c00u << 13) ? scaled : magnitude | 0x7f800000u;
  return bits<float>(finite | uint32_t{half & 0x8000u} << 16);
}

inline uint16_t float_to_half(float value) {
  const uint32_t all = bits<uint32_t>(value);
  const uint32_t sign = all >> 16 & 0x8000u;
  const uint32_t magnitude = all & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // 0.5f has the last digit of a subnormal half: the addition rounds.
    const float aligned = bits<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (bits<uint32_t>(aligned) - 0x3f000000u));
  }
  const uint32_t rebiased = magnitude - 0x38000000u;
  return static_cast<uint16_t>(sign | (rebiased + 0xfffu + (rebiased >> 13 & 1u)) >> 13);
}

inline float bfloat_to_float(uint16_t bfloat) { return bits<float>(uint32_t{bfloat} << 16); }

inline uint16_t float_to_bfloat(float value) {
  const uint32_t all = bits<uint32_t>(value);
  if ((all & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<uint16_t>((all + 0x7fffu + (all >> 16 & 1u)) >> 16);
}

// An e5m2 number is the upper byte of a half; an e4m3 number lies in a half as a 256th of itself.
inline float e5m2_to_float(uint8_t code) { return half_to_float(static_cast<uint16_t>(code << 8)); }

inline float e4m3_to_float(uint8_t code) {
  if ((code & 0x7f) == 0x7f) return bits<float>(0x7fffffffu);
  return half_to_float(static_cast<uint16_t>((code & 0x80) << 8 | (code & 0x7f) << 7)) * 256.0f;
}

// `value` as a float with its last digit set if any digit was lost: rounding it once more, to fewer
// digits, gives what rounding `value` itself would have given.
inline float to_odd(double value) {
  const float near = static_cast<float>(value);
  const uint32_t code = bits<uint32_t>(near);
  if (static_cast<double>(near) == value || near != near || (code & 1u) != 0) return near;
  return bits<float>(std::fabs(static_cast<double>(near)) < std::fabs(value) ? code + 1 : code - 1);
}

struct Half {
  uint16_t code = 0;
  Half() = default;
  Half(float value) : code(float_to_half(value)) {}
  Half(double value) : Half(to_odd(value)) {}
  operator float() const { return half_to_float(code); }
};

struct BFloat16 {
  uint16_t code = 0;
  BFloat16() = default;
  BFloat16(float value) : code(float_to_bfloat(value)) {}
  BFloat16(double value) : BFloat16(to_odd(value)) {}
  operator float() const { return bfloat_to_float(code); }
};

struct Tf32 {
  float value = 0;
  Tf32() = default;
  Tf32(double exact) : value(static_cast<float>(exact)) {}
  operator float() const { return value; }
};

struct E4M3 {
  uint8_t code = 0;
  E4M3() = default;
  E4M3(double exact)
      : code(exact != exact ? 0x7f : encode(float_to_half(static_cast<float>(exact / 256)))) {}
  operator float() const { return e4m3_to_float(code); }

 private:
  static uint8_t encode(uint16_t half) {
    return static_cast<uint8_t>((half >> 8 & 0x80) | (half >> 7 & 0x7f));
  }
};

struct E5M2 {
  uint8_t code = 0;
  E5M2() = default;
  E5M2(double exact) : code(static_cast<uint8_t>(float_to_half(static_cast<float>(exact)) >> 8)) {}
  operator float() const { return e5m2_to_float(code); }
};

// Two numbers in one register.
template <class T>
struct Pair {
  T low, high;
};

template <class T>
struct Limits;  // significant digits; exponent of the last digit of the smallest number; largest

template <>
struct Limits<float> {
  static constexpr int kDigits = 24, kLowest = -149;
  static constexpr double kLargest = 0x1.fffffep127;
};
template <>
struct Limits<Half> {
  static constexpr int kDigits = 11, kLowest = -24;
  static constexpr double kLargest = 65504;
};
template <>
struct Limits<BFloat16> {
  static constexpr int kDigits = 8, kLowest = -133;
  static constexpr double kLargest = 0x1.fep127;
};
template <>
struct Limits<Tf32> {
  static constexpr int kDigits = 11, kLowest = -136;
  static constexpr double kLargest = 0x1.ffcp127;
};
template <>
struct Limits<E4M3> {
  static constexpr int kDigits = 4, kLowest = -9;
  static constexpr double kLargest = 448;
};
template <>
struct Limits<E5M2> {
  static constexpr int kDigits = 3, kLowest = -16;
  static constexpr double kLargest = 57344;
};

template <Rounding rounding>
inline double to_integer(double value) {
  if constexpr (rounding == Rounding::kNearest) return std::nearbyint(value);
  if constexpr (rounding == Rounding::kZero) return std::trunc(value);
  if constexpr (rounding == Rounding::kDown) return std::floor(value);
  if constexpr (rounding == Rounding::kUp) return std::ceil(value);
  return std::round(value);
}

template <class T, Rounding rounding>
inline double beyond_largest(double value) {
  const bool away = rounding == Rounding::kNearest || rounding == Rounding::kAway ||
                    rounding == (value > 0 ? Rounding::kUp : Rounding::kDown);
  return std::copysign(away ? INFINITY : Limits<T>::kLargest, value);
}

// `value` with the digits that a T has; a T holds the result as it is.
template <class T, Rounding rounding>
inline double round_to(double value) {
  using L = Limits<T>;
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent;
  std::frexp(value, &exponent);
  const int last = exponent - L::kDigits > L::kLowest ? exponent - L::kDigits : L::kLowest;
  const double rounded = std::ldexp(to_integer<rounding>(std::ldexp(value, -last)), last);
  return std::fabs(rounded) > L::kLargest ? beyond_largest<T, rounding>(value) : rounded;
}

}  // namespace fictl_emu::ptx
