// Pieces of 16 bytes that one rank pushes and another waits for, and the sentinel that says that a
// piece is not there yet.
//
// A buffer without data holds the word 0x80000000 throughout. It is -0.0 of fp32, and (+0.0, -0.0)
// of two 16-bit numbers: no data of any type have it once every -0.0 is replaced by +0.0. Each word
// of a piece is compared: no more than a word has to arrive at once.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

namespace fictl::comm {

constexpr uint32_t kSentinel = 0x80000000u;

__device__ inline void push(void* to, uint4 piece) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(piece.x),
               "r"(piece.y), "r"(piece.z), "r"(piece.w)
               : "memory");
}

// Loads what a peer writes: never from L1.
__device__ inline uint4 peek(const void* from) {
  uint4 piece;
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(piece.x), "=r"(piece.y), "=r"(piece.z), "=r"(piece.w)
               : "l"(from)
               : "memory");
  return piece;
}

__device__ inline bool is_there(uint4 piece) {
  return piece.x != kSentinel && piece.y != kSentinel && piece.z != kSentinel &&
         piece.w != kSentinel;
}

// Replaces -0.0 by +0.0 in a word of elements of kBytes.
template <int kBytes>
__device__ uint32_t without_negative_zeros(uint32_t word) {
  static_assert(kBytes == 2 || kBytes == 4, "16-bit and 32-bit floating point");
  if constexpr (kBytes == 2) return word & ~__vcmpeq2(word, 0x80008000u);
  return word == kSentinel ? 0u : word;
}

template <typename T>
__device__ uint4 without_negative_zeros(uint4 piece) {
  constexpr int kBytes = sizeof(T);
  return make_uint4(
      without_negative_zeros<kBytes>(piece.x), without_negative_zeros<kBytes>(piece.y),
      without_negative_zeros<kBytes>(piece.z), without_negative_zeros<kBytes>(piece.w));
}

}  // namespace fictl::comm
