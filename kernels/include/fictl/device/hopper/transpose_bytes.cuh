// Transposes a tile of bytes in shared memory, for wgmma: values of 8 bits must lie along K, and
// attention's V does not.
//
//   from   [kRows][kColumns]    rows of up to 256 bytes, chunks where swizzle.cuh puts them
//   to     [kColumns][kRows]    K-major, swizzled as tensor copies write it: panels of 128 bytes
//
// Both orders are permuted within 16, so that no byte leaves its lane and no bank conflicts:
//
//   byte 4 c + i of a chunk of `to`      is row 2 c + i % 2 + 8 (i / 2) of `from`. The four numbers
//                                        of a row that a lane has of two neighbouring 8 x 8 blocks
//                                        of wgmma's sums stand in this order in the A operand.
//   row 8 e + g of 16 rows of `to`       is column 2 g + e: as columns of wgmma's sums, a lane has
//                                        four neighbours, 4 c + i, in two blocks (sums_of_four).
//
// ldmatrix transposes pairs of bytes, prmt takes those apart: 512 bytes by one ldmatrix, four prmt
// and one stmatrix of a warp.
#pragma once

#include <stdint.h>

#include <fictl/device/hopper/stmatrix.cuh>
#include <fictl/device/ldmatrix.cuh>
#include <fictl/device/swizzle.cuh>

namespace fictl::device {

template <int kRows, int kColumns>
struct TransposedBytes {
  static constexpr int kPanelRows = kRows < 128 ? kRows : 128;  // bytes of a row of `to`
  static_assert(kRows % 32 == 0 && kColumns % 16 == 0, "blocks of 32 rows of 16 bytes");
  static_assert(kRows % kPanelRows == 0 && (kPanelRows == 64 || kPanelRows == 128),
                "rows of the result are 64 bytes, or panels of 128");
  static constexpr int kChunks = kColumns / 16;

  // By kWarps warps. What lies in `from` is visible to them; before wgmma reads `to`, all of them
  // call fence_async_shared() and meet at a barrier. kAtOnce: times 32 rows that are on their way,
  // of four registers for each block of a warp.
  template <int kWarps, int kAtOnce = 1>
  __device__ static __forceinline__ void run(const void* from, void* to, int warp, int lane) {
    static_assert(
        kChunks % kWarps == 0 && (kWarps & (kWarps - 1)) == 0 && kRows % (32 * kAtOnce) == 0,
        "as many blocks for each warp");
    // Why apart: all blocks of a lane differ from its first by a XOR with a constant, and a step.
    // Each place by itself takes three times the instructions of the transposition.
    const char* first_from = static_cast<const char*>(from);
    const int lane_from = swizzled<kChunks>(lane, warp) * 16;
    const int lane_to = swizzled<kToChunks>(warp * 16 + lane % 16, lane / 16) * 16;
    constexpr int kBlocks = kChunks / kWarps;  // of 32 rows, for a warp
#pragma unroll 1
    for (int rows = 0; rows < kRows / 32; rows += kAtOnce) {
      uint32_t pairs[kAtOnce * kBlocks][4];
#pragma unroll
      for (int i = 0; i < kAtOnce * kBlocks; ++i) {
        ldmatrix_x4_trans(pairs[i], first_from + (lane_from ^ i % kBlocks * kWarps * 16) +
                                        (rows + i / kBlocks) * 32 * kColumns);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce * kBlocks; ++i) {
        const int chunk = (rows + i / kBlocks) * 2;  // of rows of `to`
        char* place = static_cast<char*>(to) + (lane_to ^ chunk % kToChunks * 16) +
                      chunk / kToChunks * kColumns * kPanelRows +
                      i % kBlocks * kWarps * 16 * kPanelRows;
        store(pairs[i], place);
      }
    }
  }

 private:
  static constexpr int kToChunks = kPanelRows / 16;

  // Even columns of 16 rows, odd ones, and the same of the next 16 rows.
  __device__ static __forceinline__ void store(const uint32_t (&pairs)[4], char* to) {
    stmatrix_x4(to, __byte_perm(pairs[0], pairs[1], 0x6420),
                __byte_perm(pairs[0], pairs[1], 0x7531), __byte_perm(pairs[2], pairs[3], 0x6420),
                __byte_perm(pairs[2], pairs[3], 0x7531));
  }
};

// The four sums of neighbouring columns that a lane has in blocks 2 pair and 2 pair + 1 of a
// product with transposed bytes: columns 16 pair + lane % 4 * 4 and the next three, of row lane / 4
// + 8 half.
template <int kCount>
__device__ float4 sums_of_four(const float (&sums)[kCount], int pair, int half) {
  const int even = 8 * pair + 2 * half, odd = even + 4;
  return {sums[even], sums[odd], sums[even + 1], sums[odd + 1]};
}

}  // namespace fictl::device
