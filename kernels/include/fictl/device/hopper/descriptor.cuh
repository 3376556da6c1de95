// Descriptor of a tile in shared memory, as wgmma reads its operands A and B.
//
// A K-major tile has rows of up to 128 bytes along K, as a tensor copy with that swizzle writes
// them:
//
//   row    0 ----------------- 128 bytes = 64 values of 16 bits -----------------
//          1
//          ...                      an instruction takes 32 bytes of each row:
//          7                        the next ones begin at advance(32)
//          8   1024 bytes after row 0
//
// An MN-major tile has the rows along M or N instead, one for each k. It consists of panels
// of 64 columns (16-bit types, 128 bytes): column 64 begins where the panel's rows end. An
// instruction takes 16 rows; the next ones begin at advance(16 * 128).
#pragma once

#include <stdint.h>

#include <fictl/device/hopper/swizzle.cuh>
#include <fictl/device/major.cuh>
#include <fictl/device/shared.cuh>

namespace fictl::device {

// Why two halves: the upper one never changes, and an addition to the lower one is one instruction.
struct TileDescriptor {
  uint32_t low;
  uint32_t high;

  // Descriptor of the tile that begins `bytes` after this one.
  __device__ TileDescriptor advance(uint32_t bytes) const { return {low + (bytes >> 4), high}; }
  __device__ uint64_t bits() const { return uint64_t{high} << 32 | low; }
};

namespace descriptor {

__host__ __device__ constexpr uint32_t layout_bits(Swizzle swizzle) {
  return swizzle == Swizzle::k128  ? 1
         : swizzle == Swizzle::k64 ? 2
         : swizzle == Swizzle::k32 ? 3
                                   : 0;
}

__device__ inline TileDescriptor make(const void* tile, Swizzle swizzle, uint32_t leading_bytes,
                                      uint32_t stride_bytes) {
  return {(shared_address(tile) & 0x3FFFF) >> 4 | leading_bytes >> 4 << 16,
          stride_bytes >> 4 | layout_bits(swizzle) << 30};
}

}  // namespace descriptor

// Descriptor of a tile with rows along K. `tile`: aligned to the swizzle's pattern.
template <Swizzle kSwizzle = Swizzle::k128>
__device__ TileDescriptor k_major_tile(const void* tile) {
  static_assert(kSwizzle != Swizzle::kNone,
                "unswizzled tiles need both offsets: descriptor::make()");
  return descriptor::make(tile, kSwizzle, 0, 8 * swizzle_bytes(kSwizzle));
}

// Descriptor of a tile with rows along M or N, whose panels have `rows` rows (the K of the tile).
template <Swizzle kSwizzle = Swizzle::k128>
__device__ TileDescriptor mn_major_tile(const void* tile, uint32_t rows) {
  static_assert(kSwizzle != Swizzle::kNone,
                "unswizzled tiles need both offsets: descriptor::make()");
  return descriptor::make(tile, kSwizzle, rows * swizzle_bytes(kSwizzle),
                          8 * swizzle_bytes(kSwizzle));
}

}  // namespace fictl::device
