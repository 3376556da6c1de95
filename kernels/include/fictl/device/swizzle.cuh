// Swizzled position of 16-byte chunks in shared memory: whole columns of them are read without bank
// conflicts.
#pragma once

#include <cuda_runtime.h>

namespace fictl::device {

// The index of a chunk in a tile with rows of kChunks. Eight rows at one chunk, which is what
// ldmatrix reads at a time, lie in eight different groups of four banks; so do eight chunks of a
// row.
template <int kChunks>
__host__ __device__ constexpr int swizzled(int row, int chunk) {
  static_assert((kChunks & (kChunks - 1)) == 0, "rows of a power of two of chunks");
  constexpr int kLine = 8;  // chunks in all banks
  constexpr int kRowsALine = kChunks < kLine ? kLine / kChunks : 1;
  constexpr int kMask = (kChunks < kLine ? kChunks : kLine) - 1;
  return row * kChunks + (chunk ^ (row / kRowsALine & kMask));
}

}  // namespace fictl::device
