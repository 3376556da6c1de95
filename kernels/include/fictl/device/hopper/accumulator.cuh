// Which element of a product each register of a warpgroup holds.
//
//   d[4 j], d[4 j + 1]       row 16 warp + lane / 4,      columns 8 j + lane % 4 * 2 and the next
//   d[4 j + 2], d[4 j + 3]   row 16 warp + lane / 4 + 8,  the same columns
//
// A row lies in four neighbouring lanes: two shuffles (xor 1, 2) reduce it. Packed to 16 bits, the
// registers of two neighbouring j in their order are the operand A of the next product.
#pragma once

#include <cuda_runtime.h>

namespace fictl::device {

constexpr int kWarpgroup = 128;
constexpr int kWgmmaM = 64;

struct AccumulatorLayout {
  int thread;  // of the warpgroup

  __device__ int row(int i) const { return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8; }
  __device__ int column(int i) const { return i / 4 * 8 + thread % 4 * 2 + i % 2; }
};

// Keeps the compiler from moving accesses to accumulators across this place: once before the first
// product, and after the wait for the last.
template <int kCount>
__device__ void pin(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

}  // namespace fictl::device
