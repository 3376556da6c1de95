// Reorders matrices of scales from row-major order to tiles of 128 x 4 (scale_layout.cuh), padded
// with zeros.
//
// A block of threads moves eight adjacent tiles of a row of tiles: a thread has one row of a tile
// at a time, four scales, and adjacent threads write adjacent scales. What is read for one tile
// brings the other seven's part of the row into L1.
#pragma once

#include <fictl/device/launch.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/quantization/scale_layout.cuh>

namespace fictl::quantization {

constexpr int kInterleaveThreads = 256;
constexpr int kInterleaveTiles = 8;

// `count` matrices of rows x cols, one after the other.
struct ScaleInterleaveShape {
  int64_t count;
  int64_t rows;
  int cols;
};

// A row of tiles of one matrix along the grid's x, eight tiles of it along y.
template <typename T>
__global__ void __launch_bounds__(kInterleaveThreads)
    ScaleInterleaveKernel(const T* input, T* output, ScaleInterleaveShape shape, int64_t tile_rows,
                          int tile_cols) {
  constexpr int kTileRows = 128, kTileCols = 4;
  const int64_t matrix = blockIdx.x / tile_rows;
  const int at = threadIdx.x % kTileRows;
  const int64_t row = (blockIdx.x - matrix * tile_rows) * kTileRows + at % 4 * 32 + at / 4;
  const T* from = input + (matrix * shape.rows + row) * shape.cols;

  device::pdl_wait();
  device::pdl_trigger();
#pragma unroll
  for (int i = threadIdx.x / kTileRows; i < kInterleaveTiles; i += kInterleaveThreads / kTileRows) {
    const int tile = blockIdx.y * kInterleaveTiles + i;
    if (tile >= tile_cols) return;
    device::Vec<T, kTileCols> scales;
#pragma unroll
    for (int j = 0; j < kTileCols; ++j) {
      const int col = tile * kTileCols + j;
      scales[j] = row < shape.rows && col < shape.cols ? from[col] : T{};
    }
    const int64_t to = (int64_t{blockIdx.x} * tile_cols + tile) * kTileRows + at;
    device::store_l2(output + to * kTileCols, scales);
  }
}

// `output` is aligned to four scales. `pdl`: use programmatic dependent launch where the GPU
// supports it.
template <typename T>
cudaError_t ScaleInterleave(const T* input, T* output, const ScaleInterleaveShape& shape,
                            cudaStream_t stream = nullptr, bool pdl = false) {
  const ScaleMatrix tiled(ScaleLayout::k128x4, shape.rows, shape.cols);
  if (shape.count == 0 || tiled.size() == 0) return cudaSuccess;
  const int64_t tile_rows = tiled.rows() / 128;
  const int tile_cols = tiled.cols() / 4;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  config.block = dim3(kInterleaveThreads);
  config.grid = dim3(shape.count * tile_rows, device::ceil_div(tile_cols, kInterleaveTiles));
  return device::launch<ScaleInterleaveKernel<T>>(config, input, output, shape, tile_rows,
                                                  tile_cols);
}

}  // namespace fictl::quantization
