// Asynchronous copies from global to shared memory in chunks of 16 bytes, and where a chunk goes so
// that whole columns of them can be read without bank conflicts.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

namespace fictl::device {

constexpr int kChunkBytes = 16;

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// Begins to copy a chunk, both pointers aligned to it: the first `bytes` are read, the others
// become zero. Where that is 0, `from` may point anywhere.
__device__ inline void copy_async(void* to, const void* from, int bytes = kChunkBytes) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(shared_address(to)),
               "l"(from), "n"(kChunkBytes), "r"(bytes)
               : "memory");
}

// Ends a group of this thread's copies, which may be empty.
__device__ inline void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Until at most the last kPending groups of this thread are on their way. Other threads see what
// has arrived after a barrier.
template <int kPending>
__device__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// The place of a chunk in a tile of rows of kChunks each. Eight rows at one chunk, which is what
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
