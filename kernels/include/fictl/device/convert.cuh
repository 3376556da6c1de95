// Vectors of elements to fp32 and back, each value rounded once, to the nearest.
//
// By twos where the GPU has an instruction for two: a conversion an element would cost a kernel of
// 8-bit results more issue slots than its arithmetic does.
#pragma once

#include <type_traits>

#include <fictl/device/element.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::device {

template <typename T, int N>
constexpr bool kInPairs = N % 2 == 0 && !std::is_void_v<typename Pair<T>::type>;

template <typename T, int N>
__device__ void to_float(const Vec<T, N>& from, float (&to)[N]) {
  if constexpr (kInPairs<T, N>) {
    const auto* pairs = reinterpret_cast<const typename Pair<T>::type*>(from.data);
#pragma unroll
    for (int i = 0; i < N / 2; ++i) {
      const float2 pair = Pair<T>::to_float(pairs[i]);
      to[2 * i] = pair.x;
      to[2 * i + 1] = pair.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) to[i] = Element<T>::to_float(from.data[i]);
  }
}

template <typename T, int N>
__device__ Vec<T, N> from_float(const float (&from)[N]) {
  Vec<T, N> to;
  if constexpr (kInPairs<T, N> && sizeof(T) == 1 && N % 4 == 0) {
    // Why words: of bytes the compiler would make each word with twice as many instructions as it
    // took to convert them. In words, the second conversion of two adds its bytes to the first's.
    alignas(Vec<T, N>) uint32_t words[N / 4];
#pragma unroll
    for (int i = 0; i < N / 4; ++i) {
      const auto low = Pair<T>::from_float(from[4 * i], from[4 * i + 1]);
      const auto high = Pair<T>::from_float(from[4 * i + 2], from[4 * i + 3]);
      words[i] = low.__x | static_cast<uint32_t>(high.__x) << 16;
    }
    to.bits() = *reinterpret_cast<const typename Vec<T, N>::Bits*>(words);
  } else if constexpr (kInPairs<T, N>) {
    auto* pairs = reinterpret_cast<typename Pair<T>::type*>(to.data);
#pragma unroll
    for (int i = 0; i < N / 2; ++i) pairs[i] = Pair<T>::from_float(from[2 * i], from[2 * i + 1]);
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) to[i] = Element<T>::from_float(from[i]);
  }
  return to;
}

}  // namespace fictl::device
