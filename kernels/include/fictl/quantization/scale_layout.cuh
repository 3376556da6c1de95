// The layout of the scales of blocks: one byte per block, in the order in which tensor cores read
// them.
//
// Scales are a matrix, a row for each row of values and a column for each block in it. Linear, it
// lies row by row. Swizzled, it is cut into tiles of rows x 4 columns that lie one after the other,
// row by row of tiles, and is padded with zeros to whole tiles:
//   128 x 4   row r of a tile is the four bytes at 16 * (r % 32) + 4 * (r / 32)
//   8 x 4     row r of a tile is the four bytes at 4 * r
#pragma once

#include <stdint.h>

#include <fictl/device/math.cuh>

namespace fictl::quantization {

enum class ScaleLayout { k128x4 = 0, k8x4 = 1, kLinear = 2 };

// The size in memory, with the padding of layouts with tiles.
class ScaleMatrix {
 public:
  // Rows are at one stride from a multiple of this on, up to the next.
  static constexpr int kRegularRows = 8;

  ScaleMatrix(ScaleLayout layout, int64_t rows, int64_t cols) {
    const bool linear = layout == ScaleLayout::kLinear;
    tile_rows_ = layout == ScaleLayout::k128x4 ? 128 : layout == ScaleLayout::k8x4 ? 8 : 1;
    row_in_tile_ = layout == ScaleLayout::k128x4 ? 16 : 4;
    rows_ = device::ceil_div(rows, tile_rows_) * tile_rows_;
    cols_ = linear ? cols : device::ceil_div(cols, kTileCols) * kTileCols;
    next_row_ = linear ? cols : row_in_tile_;
  }

  __host__ __device__ int rows() const { return rows_; }
  __host__ __device__ int cols() const { return cols_; }
  __host__ __device__ int next_row() const { return next_row_; }
  int64_t size() const { return int64_t{rows_} * cols_; }

  // The offset of the scale of a block. One formula for all layouts, as branches would cost a
  // kernel more: linear, every row is a tile.
  __device__ int64_t at(int row, int col) const {
    const int in_tile = row & (tile_rows_ - 1);
    const int in_row = col & (kTileCols - 1);
    return int64_t{row - in_tile} * cols_ + int64_t{col - in_row} * tile_rows_ +
           (in_row + (in_tile & 31) * row_in_tile_ + (in_tile >> 5) * kTileCols);
  }

 private:
  static constexpr int kTileCols = 4;

  int rows_;
  int cols_;
  int next_row_;
  int tile_rows_;
  int row_in_tile_;
};

}  // namespace fictl::quantization
