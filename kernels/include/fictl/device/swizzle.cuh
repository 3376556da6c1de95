// Swizzled position of 16-byte chunks in shared memory: whole columns of them are read without bank
// conflicts.
#pragma once

#include <cuda_runtime.h>

namespace fictl::device {

// The index of a chunk in a tile with rows of kChunks. Eight rows at one chunk, which is what
// ldmatrix reads at a time, lie in eight different groups of four banks; so do eight chunks of a
// row from a multiple of eight on.
//
// Chunks change places within the power of two that divides kChunks. What is odd in kChunks moves
// rows to other banks by itself.
template <int kChunks>
__host__ __device__ constexpr int swizzled(int row, int chunk) {
  constexpr int kLine = 8;  // chunks in all banks
  constexpr int kPower = kChunks & -kChunks;
  constexpr int kRowsALine = kPower < kLine ? kLine / kPower : 1;
  constexpr int kMask = (kPower < kLine ? kPower : kLine) - 1;
  return row * kChunks + (chunk ^ (row / kRowsALine & kMask));
}

}  // namespace fictl::device
