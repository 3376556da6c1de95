// Vectors of up to 16 bytes, which one instruction loads or stores.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

namespace fictl::device {

constexpr int kVecBytes = 16;

// The register type of a number of bytes.
template <int Bytes>
struct Word;
template <>
struct Word<1> {
  using type = unsigned char;
};
template <>
struct Word<2> {
  using type = unsigned short;
};
template <>
struct Word<4> {
  using type = unsigned int;
};
template <>
struct Word<8> {
  using type = uint2;
};
template <>
struct Word<16> {
  using type = uint4;
};

template <typename T, int N>
struct alignas(N * sizeof(T)) Vec {
  using Bits = typename Word<N * sizeof(T)>::type;
  T data[N];

  __device__ T& operator[](int i) { return data[i]; }
  __device__ Bits& bits() { return *reinterpret_cast<Bits*>(data); }
};

// Loads past L1, for data that a block uses once. Why intrinsics: the compiler may split a plain
// 16-byte access into four.
template <int N, typename T>
__device__ Vec<T, N> load_l2(const T* from) {
  Vec<T, N> vec;
  vec.bits() = __ldcg(reinterpret_cast<const typename Vec<T, N>::Bits*>(from));
  return vec;
}

// Loads through L1, for data that other blocks on the SM read as well. Why not __ldg: under
// programmatic dependent launch L1 may hold what was there before the kernel that this one waited
// for, and only an ordinary load is sure to see what that kernel wrote.
template <int N, typename T>
__device__ Vec<T, N> load_l1(const T* from) {
  Vec<T, N> vec;
  vec.bits() = __ldca(reinterpret_cast<const typename Vec<T, N>::Bits*>(from));
  return vec;
}

template <int N, typename T>
__device__ void store_l2(T* to, Vec<T, N> vec) {
  __stcg(reinterpret_cast<typename Vec<T, N>::Bits*>(to), vec.bits());
}

// Keeps a vector of 8 or 16 bytes in as many registers as it needs. Why: where 16-bit values are
// used twice, it would keep them as fp32 in between, in twice the registers.
template <typename T, int N>
__device__ void keep_packed(Vec<T, N>& vec) {
  if constexpr (sizeof(vec) == kVecBytes) {
    uint4& words = vec.bits();
    asm volatile("" : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));
  } else if constexpr (sizeof(vec) == 8) {
    uint2& words = vec.bits();
    asm volatile("" : "+r"(words.x), "+r"(words.y));
  }
}

inline bool vec_aligned(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % kVecBytes == 0;
}

}  // namespace fictl::device
