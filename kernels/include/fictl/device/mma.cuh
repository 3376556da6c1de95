// Products on tensor cores by one warp.
//
// d[16][8] += a[16][16] b[8][16]^T, for GPUs from sm_80 on. A lane holds of d:
//   d[0], d[1]   row lane / 4, columns lane % 4 * 2 and the next
//   d[2], d[3]   row lane / 4 + 8, the same columns
// and of a and b what ldmatrix_x4 of ldmatrix.cuh gives it: all of a, or two adjacent b, when every
// lane points at the chunk of 16 bytes that MmaA or MmaB names. The rows of a and of b run along k.
// As registers, of 16-bit elements in twos, the first in the lower half:
//   a[0], a[1]   rows lane / 4 and lane / 4 + 8, k = lane % 4 * 2 and the next
//   a[2], a[3]   the same rows, k + 8
//   b0, b1       column lane / 4, k = lane % 4 * 2 and the next, and k + 8
// so that d of two products with adjacent columns, rounded, is a of another one: attention's
// probabilities need not leave their registers.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <stdint.h>
#include <string.h>

#include <fictl/device/element.cuh>

namespace fictl::device {

constexpr int kMmaM = 16;
constexpr int kMmaN = 8;
constexpr int kMmaK = 16;

// Packs two values into a register of an operand.
template <typename T>
__device__ uint32_t packed(float low, float high) {
  const auto pair = Pair<T>::from_float(low, high);
  uint32_t bits;
  memcpy(&bits, &pair, sizeof(bits));
  return bits;
}

template <typename T>
__device__ void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);

template <>
__device__ inline void mma_m16n8k16<__half>(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                            uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <>
__device__ inline void mma_m16n8k16<__nv_bfloat16>(float (&d)[4], const uint32_t (&a)[4],
                                                   uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Transposes a matrix of 8 x 8 elements of 16 bits, of which a lane has those of row lane / 4,
// columns lane % 4 * 2 and the next: what a product gave becomes b of another.
__device__ inline uint32_t transposed(uint32_t two) {
  uint32_t result;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(two));
  return result;
}

}  // namespace fictl::device
