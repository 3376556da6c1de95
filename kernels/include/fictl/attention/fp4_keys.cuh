// Keys and values of four bits in pages: e2m1, two in a byte, and for each 16 of a head an e4m3
// scale in pages of its own.
//
// Elements reach tensor cores as 16 bits: e2m1 * scale / 256, which bf16 and fp16 hold without
// rounding. Whoever multiplies with them multiplies with kFp4Unit, too.
#pragma once

#include <stdint.h>
#include <string.h>

#include <type_traits>

#include <fictl/attention/keys.cuh>
#include <fictl/device/element_fp8.cuh>

namespace fictl::attention {

// Two elements, the first in the low half. Its dtype elsewhere is that of bytes.
struct Fp4x2 {
  uint8_t both;
};

}  // namespace fictl::attention

namespace fictl::device {

template <>
struct Element<attention::Fp4x2> : DLPackType<1, 8> {
  static constexpr const char* kName = "uint8";
};

}  // namespace fictl::device

namespace fictl::attention {

constexpr int kFp4Block = 16;  // elements of a scale
constexpr float kFp4Unit = 256.0f;

// Distances of keys and values are in bytes. `start` is where the request's pages begin.
struct PagedFp4Keys {
  using Element = Fp4x2;
  static constexpr bool kItemNamesHead = false;

  device::PagedRows<const Fp4x2> k;
  device::PagedRows<const Fp4x2> v;
  const int32_t* pages = nullptr;
  device::Divisor page_size{1};
  int64_t page_count = 0;
  device::PagedRows<const uint8_t> k_scales;
  device::PagedRows<const uint8_t> v_scales;

  // Why not signed, or of 64 bits: a place of four bits takes few bytes, and its address is a part
  // of what they cost; this halves the instructions of a product.
  struct At {
    uint32_t page;
    uint32_t slot;
  };
  __device__ At find(int start, int position) const {
    const device::Divisor::Result at = page_size.divide(position);
    return {static_cast<uint32_t>(pages[start + at.quotient]), static_cast<uint32_t>(at.remainder)};
  }
  __device__ const Fp4x2* key(At at, int head) const { return row(k, at, head); }
  __device__ const Fp4x2* value(At at, int head) const { return row(v, at, head); }
  __device__ const uint8_t* key_scales(At at, int head) const { return row(k_scales, at, head); }
  __device__ const uint8_t* value_scales(At at, int head) const { return row(v_scales, at, head); }

 private:
  template <typename T>
  static __device__ T* row(const device::PagedRows<T>& rows, At at, int head) {
    return rows.data + at.page * rows.page_pitch + at.slot * rows.slot_pitch +
           head * rows.head_pitch;
  }
};

template <typename Keys>
constexpr bool kIsFp4 = std::is_same_v<typename Keys::Element, Fp4x2>;

// Elements of a unit of memory.
template <typename T>
constexpr int kPackOf = std::is_same_v<T, Fp4x2> ? 2 : 1;

// How bits of e2m1 become those of 16 bits, and what they are to be multiplied with.
template <typename To>
struct Fp4Bits;
template <>
struct Fp4Bits<__nv_bfloat16> {
  static constexpr int kMagnitudeAt = 6;  // the bit of the mantissa: the number is 2^-126 times
  static constexpr int kScaleShift = 4;   // e4m3's bits: the scale is 2^-120 times
  static constexpr float kScaleFactor = 0x1p119f;  // twice: 2^118 times, and all is 2^-8 times
  static constexpr int kScaleFactors = 2;
};
template <>
struct Fp4Bits<__half> {
  static constexpr int kMagnitudeAt = 9;          // 2^-14 times
  static constexpr int kScaleShift = 7;           // 2^-8 times
  static constexpr float kScaleFactor = 0x1p14f;  // once: 2^6 times
  static constexpr int kScaleFactors = 1;
};

template <typename To>
__device__ uint32_t times(uint32_t pair, uint32_t factors) {
  typename device::Pair<To>::type a, b;
  memcpy(&a, &pair, sizeof(a));
  memcpy(&b, &factors, sizeof(b));
  a = __hmul2(a, b);
  memcpy(&pair, &a, sizeof(pair));
  return pair;
}

// The elements i and i + 4 of eight, as two of 16 bits that factors make right.
template <typename To, int i>
__device__ uint32_t fp4_pair(uint32_t eight) {
  constexpr int kAt = Fp4Bits<To>::kMagnitudeAt;
  constexpr uint32_t kMagnitudes = (7u << kAt) * 0x10001u;
  constexpr int kMove = kAt - 4 * i;
  const uint32_t magnitudes = kMove >= 0 ? eight << (kMove & 31) : eight >> (-kMove & 31);
  return (eight << (12 - 4 * i) & 0x80008000u) | (magnitudes & kMagnitudes);
}

// Two scales, in bytes 0 and 2 of a word, as factors of pairs. They are neither negative nor NaN.
template <typename To>
__device__ uint32_t fp4_factors(uint32_t scales) {
  using Bits = Fp4Bits<To>;
  uint32_t pair = scales << Bits::kScaleShift;
  const auto factor = device::Pair<To>::from_float(Bits::kScaleFactor, Bits::kScaleFactor);
  uint32_t factors;
  memcpy(&factors, &factor, sizeof(factors));
#pragma unroll
  for (int i = 0; i < Bits::kScaleFactors; ++i) pair = times<To>(pair, factors);
  return pair;
}

// The highest bit of each byte of the word that is a scale of no number: negative, or NaN.
__device__ inline uint32_t special_scales(uint32_t scales) {
  return (((scales & 0x7f7f7f7fu) + 0x01010101u) | scales) & 0x80808080u;
}

}  // namespace fictl::attention
