// The end of a tile: a warp's 16 rows from accumulators to memory, by way of shared memory, whole
// chunks of 16 bytes at a time. Why not by bulk stores: a box would write behind a request's last
// row, into the next request.
#pragma once

#include <fictl/attention/epilogue.cuh>
#include <fictl/attention/sm90/mask.cuh>
#include <fictl/attention/sm90/softmax.cuh>
#include <fictl/attention/sm90/tile.cuh>
#include <fictl/device/hopper/stmatrix.cuh>
#include <fictl/device/hopper/transpose_bytes.cuh>

namespace fictl::attention::sm90 {

// Parts of rows: fp32, straight from the accumulators.
template <typename Tile, typename Config, int kCount>
__device__ void store_part(const Problem<Config>& problem, const Work& work, int row, int half,
                           int dim, const float (&sums)[kCount], const device::SoftmaxState& state,
                           bool first_lane) {
  const RowEnd end = end_part(state);
  const int64_t to = int64_t{work.item.partial} + row;
  if (first_lane) store_partial_lse(problem, to, work.kv_head, end.lse);
  if constexpr (Tile::kFp8) {
#pragma unroll
    for (int pair = 0; pair < kCount / 8; ++pair) {
      const float4 four = device::sums_of_four(sums, pair, half);
      const float values[4] = {four.x, four.y, four.z, four.w};
      store_partial_out(problem, to, work.kv_head, 16 * pair + dim, values, end.factor);
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < kCount / 4; ++j) {
    const float values[2] = {sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]};
    store_partial_out(problem, to, work.kv_head, 8 * j + dim, values, end.factor);
  }
}

template <typename Tile, typename Config>
class TileStore {
  static constexpr int kSums = Tile::kValueDim / 2;
  static constexpr bool kNarrow = sizeof(typename Config::O) == 1;
  static constexpr int kOfChunk = kNarrow ? 16 : 8;           // elements of 16 bytes
  static constexpr int kChunks = Tile::kValueDim / kOfChunk;  // of a row
  static constexpr int kWarpRows = 16;

 public:
  __device__ TileStore(Shared<Tile>& shared, const Problem<Config>& problem, const Work& work,
                       ThreadRows rows, int tile_rows)
      : problem_(problem),
        work_(work),
        rows_(rows),
        lane_(rows.thread() % 32),
        first_row_(rows.first + rows.thread() / 32 * kWarpRows),
        end_row_(min(tile_rows, work.item.q_len * problem.group.divisor() - work.item.row)),
        panels_(shared.out_panels() + first_row_ * kRowBytes) {
    // Why: addresses that follow from the lane alone would be kept for all tiles, in registers that
    // the products need.
    asm volatile("" : "+r"(lane_)::"memory");
  }

  __device__ __forceinline__ void store(float (&sums)[kSums], const RowSoftmax& softmax) {
    if (work_.item.partial >= 0) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const device::SoftmaxState state = softmax.state(half);
        const int row = rows_.row(half);
        if (row >= end_row_) continue;
        store_part<Tile>(problem_, work_, row, half, dim(0), sums, state, lane_ % 4 == 0);
      }
      return;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) finish(sums, half, softmax.state(half));
    stage(sums);
    __syncwarp();
    copy();
    __syncwarp();  // The next tile's outputs take the place of these.
  }

 private:
  // Makes outputs of a row's sums.
  __device__ __forceinline__ void finish(float (&sums)[kSums], int half,
                                         const device::SoftmaxState& state) {
    const int row = rows_.row(half);
    if (row >= end_row_) return;
    const Place at = place_of(problem_, work_.item, row, work_.kv_head);
    const RowEnd end = end_row(problem_, state, at.head);
    if (lane_ % 4 == 0) store_lse(problem_, work_.item.q_start + at.query, at.head, end.lse);
    each_of_row(sums, half, [&](float& sum, [[maybe_unused]] int column) {
      sum *= end.factor;
      if constexpr (Config::Variant::kOutputs) {
        sum = problem_.variant.output(sum, at, this->dim(column));
      }
    });
  }

  // The dim of a sum, by its column from the thread's first one on.
  __device__ int dim(int column) const {
    if constexpr (Tile::kFp8) {
      return column / 16 * 16 + 2 * rows_.key() + column % 8 * 2 + column / 8 % 2;
    } else {
      return rows_.key() + column;
    }
  }

  // Where a chunk of a row of the warp is: swizzled, so that neither side has bank conflicts.
  __device__ unsigned char* chunk(int row, int index) const {
    return panels_ + index / 8 * Tile::kOutPanel + row * kRowBytes + (index % 8 ^ row % 8) * 16;
  }

  // By stmatrix, 16 rows and 16 dims at a time: lane l has the address of row l % 8 of matrix l
  // / 8.
  __device__ __forceinline__ void stage(const float (&sums)[kSums]) const {
    using O = typename Config::O;
    if constexpr (kNarrow) {
      stage_narrow(sums);
      return;
    }
    if constexpr (Tile::kFp8) {
      stage_fours(sums);
      return;
    }
    const int row = lane_ % 16;
#pragma unroll
    for (int j = 0; j < kChunks; j += 2) {
      uint32_t packed[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        packed[i] = device::packed<O>(sums[4 * j + 2 * i], sums[4 * j + 2 * i + 1]);
      }
      device::stmatrix_x4(chunk(row, j + lane_ / 16), packed[0], packed[1], packed[2], packed[3]);
    }
  }

  // The same of sums whose dims transpose_bytes.cuh has permuted: four neighbours a thread.
  __device__ __forceinline__ void stage_fours(const float (&sums)[kSums]) const {
    using O = typename Config::O;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int pair = 0; pair < kSums / 8; ++pair) {
        const float4 four = device::sums_of_four(sums, pair, half);
        const uint2 packed{device::packed<O>(four.x, four.y), device::packed<O>(four.z, four.w)};
        unsigned char* to = chunk(8 * half + lane_ / 4, 2 * pair + lane_ % 4 / 2);
        *reinterpret_cast<uint2*>(to + lane_ % 2 * 8) = packed;
      }
    }
  }

  // The same of outputs of 8 bits, for which there is no stmatrix: two neighbours a thread, or
  // four.
  __device__ __forceinline__ void stage_narrow(const float (&sums)[kSums]) const {
    using O = typename Config::O;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = 8 * half + lane_ / 4;
      if constexpr (Tile::kFp8) {
#pragma unroll
        for (int pair = 0; pair < kSums / 8; ++pair) {
          const float4 four = device::sums_of_four(sums, pair, half);
          const float values[4] = {four.x, four.y, four.z, four.w};
          auto* to = reinterpret_cast<device::Vec<O, 4>*>(chunk(row, pair) + lane_ % 4 * 4);
          *to = device::from_float<O>(values);
        }
      } else {
#pragma unroll
        for (int j = 0; j < kSums / 4; ++j) {
          const float values[2] = {sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]};
          auto* to = chunk(row, j / 2) + j % 2 * 8 + lane_ % 4 * 2;
          *reinterpret_cast<device::Vec<O, 2>*>(to) = device::from_float<O>(values);
        }
      }
    }
  }

  __device__ __forceinline__ void copy() const {
#pragma unroll 4
    for (int i = lane_; i < kWarpRows * kChunks; i += 32) {
      const int row = first_row_ + i / kChunks;
      if (row >= end_row_) break;
      const Row at = row_of(problem_, work_.item.row + row, work_.kv_head);
      auto* to = problem_.out.row(work_.item.q_start + at.query, at.head) + i % kChunks * kOfChunk;
      *reinterpret_cast<uint4*>(to) =
          *reinterpret_cast<const uint4*>(chunk(i / kChunks, i % kChunks));
    }
  }

  const Problem<Config>& problem_;
  const Work& work_;
  ThreadRows rows_;
  int lane_;
  int first_row_;  // of the warp, in the tile
  int end_row_;    // of those that are stored
  unsigned char* panels_;
};

}  // namespace fictl::attention::sm90
