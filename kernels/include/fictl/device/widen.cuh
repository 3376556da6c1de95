// Elements of 8 bits as elements of 16 bits, which hold each of their values: no rounding.
//
// To fp16 it is one instruction for two elements from sm_89 on, and before that three or four,
// which move bits. To bf16 it would be four, of which three are conversions, of 16 lanes a clock of
// an SM: there is none between fp16 and bf16 but by way of fp32. A chunk is moved by bits instead:
// four instructions for two elements as well, of 64 lanes a clock and more.
#pragma once

#include <stdint.h>
#include <string.h>

#include <type_traits>

#include <fictl/device/element_fp8.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::device {

// The GPU has an instruction that makes two elements of 8 bits fp16.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
constexpr bool kConvertsFp8 = true;
#else
constexpr bool kConvertsFp8 = false;
#endif

// Four elements as two registers, in their order, by conversions.
template <typename To, typename From>
__device__ uint2 converted(uint32_t four) {
  typename Pair<From>::type pairs[2];
  memcpy(pairs, &four, sizeof(pairs));
  uint2 words;
  if constexpr (std::is_same_v<To, __half>) {
    const __half2 halves[2] = {static_cast<__half2>(pairs[0]), static_cast<__half2>(pairs[1])};
    memcpy(&words, halves, sizeof(words));
  } else {
    const float2 low = Pair<From>::to_float(pairs[0]);
    const float2 high = Pair<From>::to_float(pairs[1]);
    const typename Pair<To>::type both[2] = {Pair<To>::from_float(low.x, low.y),
                                             Pair<To>::from_float(high.x, high.y)};
    memcpy(&words, both, sizeof(words));
  }
  return words;
}

// The same to fp16 by their bits. An element of e5m2 is the high byte of one of fp16. One of e4m3
// has a bit less of exponent, and the difference of the biases is a factor; NaN is set apart.
template <typename From>
__device__ uint2 fp16_by_bits(uint32_t four) {
  constexpr uint32_t kFirst = 0x1404, kSecond = 0x3424;  // to the high bytes of two
  uint32_t pairs[2] = {__byte_perm(four, 0, kFirst), __byte_perm(four, 0, kSecond)};
  if constexpr (std::is_same_v<From, __nv_fp8_e4m3>) {
#pragma unroll
    for (uint32_t& pair : pairs) {
      pair = (pair & 0x80008000u) | (pair >> 1 & 0x3f803f80u);
      __half2 small;
      memcpy(&small, &pair, sizeof(pair));
      small = __hmul2(small, __float2half2_rn(256.0f));
      memcpy(&pair, &small, sizeof(pair));
    }
    const uint32_t nans = ((four & 0x7f7f7f7fu) + 0x01010101u) & 0x80808080u;
    if (nans != 0) {
      const uint32_t first = __byte_perm(nans, 0, kFirst), second = __byte_perm(nans, 0, kSecond);
      pairs[0] |= first - (first >> 7);
      pairs[1] |= second - (second >> 7);
    }
  }
  return {pairs[0], pairs[1]};
}

// Four elements as two registers, in their order.
template <typename To, typename From>
__device__ uint2 widened(uint32_t four) {
  if constexpr (std::is_same_v<To, __half> && !kConvertsFp8) {
    return fp16_by_bits<From>(four);
  } else {
    return converted<To, From>(four);
  }
}

// Elements of 8 bits as bf16, by their bits: exponent and mantissa are moved to where bf16 has
// them, and the difference of the biases is a factor, which makes subnormal ones normal, too.
template <typename From>
struct BitsToBf16;
template <>
struct BitsToBf16<__nv_fp8_e4m3> {
  static constexpr int kShift = 4;            // 3 bits of mantissa, and 7 of bf16
  static constexpr float kFactor = 0x1p120f;  // biases 7 and 127
  static constexpr uint32_t kSpecial = 0x7f;  // NaN
};
template <>
struct BitsToBf16<__nv_fp8_e5m2> {
  static constexpr int kShift = 5;
  static constexpr float kFactor = 0x1p112f;
  static constexpr uint32_t kSpecial = 0x7c;  // and above: infinity, NaN
};

// Bits of which one is set in any byte's highest if one of 16 elements has no finite value.
template <typename From>
__device__ uint32_t special_bits(uint4 chunk) {
  constexpr uint32_t kMask = 0x7f7f7f7fu;
  constexpr uint32_t kCarry = 0x80808080u - 0x01010101u * BitsToBf16<From>::kSpecial;
  return ((chunk.x & kMask) + kCarry) | ((chunk.y & kMask) + kCarry) |
         ((chunk.z & kMask) + kCarry) | ((chunk.w & kMask) + kCarry);
}

// Four finite elements as two registers, in their order.
template <typename From>
__device__ uint2 widened_by_bits(uint32_t four) {
  using Bits = BitsToBf16<From>;
  constexpr uint32_t kKept =
      (0x80u | 0x7fu >> (8 - Bits::kShift)) << 8 | 0xffu << Bits::kShift & 0xffu;
  uint32_t pairs[2];
  // Each byte below eight copies of its sign: the highest of them is the sign after the shift, too.
  asm("prmt.b32 %0, %1, %1, 0x9180;" : "=r"(pairs[0]) : "r"(four));
  asm("prmt.b32 %0, %1, %1, 0xb3a2;" : "=r"(pairs[1]) : "r"(four));
  const auto factor = Pair<__nv_bfloat16>::from_float(Bits::kFactor, Bits::kFactor);
#pragma unroll
  for (uint32_t& pair : pairs) {
    pair = pair << Bits::kShift & (kKept << 16 | kKept);
    typename Pair<__nv_bfloat16>::type small;
    memcpy(&small, &pair, sizeof(pair));
    small = __hmul2(small, factor);
    memcpy(&pair, &small, sizeof(pair));
  }
  return {pairs[0], pairs[1]};
}

// The 16 elements of a chunk of 16 bytes, as two chunks.
template <typename To, typename From>
__device__ void widen(uint4 chunk, uint4 (&to)[2]) {
  static_assert(sizeof(From) == 1 && sizeof(To) == 2, "from 8 bits to 16");
  const uint2 first = widened<To, From>(chunk.x), second = widened<To, From>(chunk.y);
  const uint2 third = widened<To, From>(chunk.z), fourth = widened<To, From>(chunk.w);
  to[0] = {first.x, first.y, second.x, second.y};
  to[1] = {third.x, third.y, fourth.x, fourth.y};
}

// The same of several chunks, for `store(i, two)`. Why together: one test finds whether their bits
// are enough, and no conversion waits for another.
template <typename To, typename From, int kCount, typename Store>
__device__ __forceinline__ void widen_all(const uint4 (&chunks)[kCount], Store store) {
  if constexpr (std::is_same_v<To, __nv_bfloat16>) {
    uint32_t special = 0;
#pragma unroll
    for (const uint4& chunk : chunks) special |= special_bits<From>(chunk);
    if ((special & 0x80808080u) == 0) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const uint2 first = widened_by_bits<From>(chunks[i].x);
        const uint2 second = widened_by_bits<From>(chunks[i].y);
        const uint2 third = widened_by_bits<From>(chunks[i].z);
        const uint2 fourth = widened_by_bits<From>(chunks[i].w);
        const uint4 two[2] = {{first.x, first.y, second.x, second.y},
                              {third.x, third.y, fourth.x, fourth.y}};
        store(i, two);
      }
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    uint4 two[2];
    widen<To, From>(chunks[i], two);
    store(i, two);
  }
}

}  // namespace fictl::device
