// Loads of one operand's tiles: rows along K in one box, rows along M or N in panels of 64.
#pragma once

#include <fictl/device/hopper/bulk_copy.cuh>
#include <fictl/device/hopper/tensor_map.cuh>
#include <fictl/gemm/sm90/tile.cuh>

namespace fictl::gemm {

constexpr int kPanelRows = 64;

// Where a tile begins.
struct TileOrigin {
  int batch;
  int row;
  int k;
};

// The map of an operand [batch][rows][k]. `major_stride`: of the dimension that is not contiguous.
template <device::Major kMajor, typename T>
device::TensorMapSpec operand_map(const T* data, int batch, int rows, int k, int64_t major_stride,
                                  int64_t batch_stride, int box_rows) {
  using device::TensorMapSpec;
  constexpr bool kAlongK = kMajor == device::Major::kK;
  TensorMapSpec spec =
      kAlongK ? TensorMapSpec::of(data).with(k, 1, kPanelK).with(rows, major_stride, box_rows)
              : TensorMapSpec::of(data).with(rows, 1, kPanelRows).with(k, major_stride, kPanelK);
  spec.swizzle = device::Swizzle::k128;
  // A stride of 0, which repeats a matrix, is not one that a map can have: one matrix, then.
  const bool repeats = batch_stride == 0 || batch == 1;
  return spec.with(repeats ? 1 : batch, repeats ? 8 * int64_t{kPanelK} : batch_stride);
}

// Loads the part of a tile's panel that this block sends, to itself or to all blocks in `blocks`.
//   kRows: of the whole tile; kParts: blocks that share the work, of which this one is `part`
template <device::Major kMajor, int kRows, int kParts>
__device__ void load_panel(unsigned char* tile, const CUtensorMap& map, device::Mbarrier& barrier,
                           TileOrigin at, int part, uint16_t blocks, device::CacheHint hint) {
  constexpr int kShare = kRows / kParts;
  const int first = part * kShare;
  const auto load = [&](int offset, int c0, int c1) {
    if constexpr (kParts > 1) {
      device::load_tensor_multicast(tile + offset, map, barrier, blocks, c0, c1, at.batch, hint);
    } else {
      device::load_tensor(tile + offset, map, barrier, c0, c1, at.batch, hint);
    }
  };
  if constexpr (kMajor == device::Major::kK) {
    load(first * kRowBytes, at.k, at.row + first);
  } else {
    static_assert(kParts == 1 || kShare % kPanelRows == 0, "whole panels");
#pragma unroll
    for (int row = 0; row < kShare; row += kPanelRows) {
      load((first + row) * kRowBytes, at.row + first + row, at.k);
    }
  }
}

// The descriptor of a tile in shared memory, and how far the next 16 values of K are.
template <device::Major kMajor>
struct OperandTile {
  static constexpr int kNextK = kMajor == device::Major::kK ? 32 : 16 * kRowBytes;

  __device__ static device::TileDescriptor at(const void* tile) {
    if constexpr (kMajor == device::Major::kK) {
      return device::k_major_tile(tile);
    } else {
      return device::mn_major_tile(tile, kPanelK);
    }
  }
};

}  // namespace fictl::gemm
