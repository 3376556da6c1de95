// Elements of 8 bits as elements of 16 bits, which hold each of their values: no rounding.
//
// To fp16 it is one instruction for two elements on sm_90, to bf16 four: there is no conversion
// between fp16 and bf16 but by way of fp32.
#pragma once

#include <stdint.h>
#include <string.h>

#include <type_traits>

#include <fictl/device/element_fp8.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::device {

// Four elements as two registers, in their order.
template <typename To, typename From>
__device__ uint2 widened(uint32_t four) {
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

// The 16 elements of a chunk of 16 bytes, as two chunks.
template <typename To, typename From>
__device__ void widen(uint4 chunk, uint4 (&to)[2]) {
  static_assert(sizeof(From) == 1 && sizeof(To) == 2, "from 8 bits to 16");
  const uint2 first = widened<To, From>(chunk.x), second = widened<To, From>(chunk.y);
  const uint2 third = widened<To, From>(chunk.z), fourth = widened<To, From>(chunk.w);
  to[0] = {first.x, first.y, second.x, second.y};
  to[1] = {third.x, third.y, fourth.x, fourth.y};
}

}  // namespace fictl::device
