// Swizzles of tiles in shared memory: the order of 16-byte chunks that bulk tensor copies write and
// wgmma reads without bank conflicts.
//
//   128 bytes, row r of 8     chunk   0  1  2  3  4  5  6  7
//                           is at     0^r ...             7^r
//
// As a function of the byte's address the chunk's index (bits 4 to 6) is combined with the row
// within the pattern (bits 7 to 9). So tiles begin at multiples of the pattern: 1024, 512 or 256
// bytes.
#pragma once

#include <stdint.h>

namespace fictl::device {

enum class Swizzle { kNone, k32, k64, k128 };

// The width of a row of a swizzled tile.
__host__ __device__ constexpr uint32_t swizzle_bytes(Swizzle swizzle) {
  return swizzle == Swizzle::k128  ? 128
         : swizzle == Swizzle::k64 ? 64
         : swizzle == Swizzle::k32 ? 32
                                   : 16;
}

// Where the byte `offset` of an unswizzled tile lies; the tile is aligned to the pattern.
template <Swizzle kSwizzle>
__host__ __device__ constexpr uint32_t swizzled_byte(uint32_t offset) {
  constexpr uint32_t kMask = swizzle_bytes(kSwizzle) / 16 - 1;
  return offset ^ (offset >> 7 & kMask) << 4;
}

constexpr uint32_t kPatternBytes = 1024;  // of rows of 128 bytes

}  // namespace fictl::device
