// Products of a warpgroup on Hopper's tensor cores: d[64][N] (+)= a[64][K] b[N][K]^T, with K of 32
// bytes and N of 8, 16, ... 256.
//
//   wgmma_begin();                        registers that other code has written are ready
//   wgmma<T>(d, a, b, false);             d = a b^T
//   wgmma<T>(d, a.advance(32), b.advance(32));
//   wgmma_commit();                       a group of them
//   wgmma_wait<0>();                      all groups but the newest 0 are complete
//
// Until the wait nobody may read or write d, write the registers of a, or overwrite the tiles. All
// 128 threads call together. accumulator.cuh says which element a register holds; descriptor.cuh
// what a tile looks like. A type's instructions come with its header in wgmma/.
#pragma once

#include <fictl/device/hopper/accumulator.cuh>
#include <fictl/device/hopper/descriptor.cuh>

namespace fictl::device {

// The instructions for operands of types A and B and the width N.
template <typename A, typename B, int N>
struct Wgmma;

__device__ inline void wgmma_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int kPending>
__device__ void wgmma_wait() {
  static_assert(kPending >= 0 && kPending < 8, "0 to 7 groups");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Both operands in shared memory. `adds` false: d is overwritten.
template <typename A, Major kMajorA = Major::kK, Major kMajorB = Major::kK, typename B = A,
          int kCount>
__device__ void wgmma(float (&d)[kCount], TileDescriptor a, TileDescriptor b, bool adds = true) {
  Wgmma<A, B, 2 * kCount>::template shared<kMajorA, kMajorB>(d, a, b, adds);
}

// A in registers, packed: see accumulator.cuh for 16-bit types.
template <typename A, Major kMajorB = Major::kK, typename B = A, int kCount>
__device__ void wgmma(float (&d)[kCount], const uint32_t (&a)[4], TileDescriptor b,
                      bool adds = true) {
  Wgmma<A, B, 2 * kCount>::template registers<kMajorB>(d, a, b, adds);
}

}  // namespace fictl::device
