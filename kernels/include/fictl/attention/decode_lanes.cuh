// The part of a tile of decode.cuh that a lane of a warp holds. Of 16 rows it has two that are
// eight apart, and two adjacent columns of every eight. Of 8 rows it has two adjacent ones, and one
// column of every eight: rows are columns of the products (decode_fp4.cuh).
#pragma once

#include <fictl/device/reduce.cuh>

namespace fictl::attention {

// `half` is the first or the second row of a lane.
template <typename Shape>
struct DecodeLanes {
  static constexpr bool kFewRows = Shape::kFewRows;

  static __device__ int row(int lane, int half) {
    return kFewRows ? lane % 4 * 2 + half : half * 8 + lane / 4;
  }

  // Which of the rows the i-th of four scores or sums is of.
  static __device__ constexpr int half_of(int i) { return kFewRows ? i % 2 : i / 2; }

  // Which key of a tile the i-th score of four is of, the n-th of a lane.
  static __device__ int key(int lane, int n, int i) {
    return kFewRows ? n * 16 + i / 2 * 8 + lane / 4 : n * 8 + lane % 4 * 2 + i % 2;
  }

  // Reduces over the lanes that have a row.
  template <typename Op>
  static __device__ float of_row(Op op, float value) {
    constexpr int kFirst = kFewRows ? 4 : 1;
    constexpr int kEnd = kFewRows ? device::kWarpSize : 4;
#pragma unroll
    for (int apart = kFirst; apart < kEnd; apart *= 2) {
      value = op(value, __shfl_xor_sync(0xffffffff, value, apart));
    }
    return value;
  }

  // Stores a lane's sums of one row to where the row begins.
  static __device__ void store(const float (&sums)[Shape::kSums][4], int lane, int half,
                               float* to) {
    if constexpr (kFewRows) {
#pragma unroll
      for (int d = 0; d < Shape::kSums; d += 2) {
        *reinterpret_cast<float4*>(to + d * 16 + lane / 4 * 4) = {
            sums[d][half], sums[d][half + 2], sums[d + 1][half], sums[d + 1][half + 2]};
      }
    } else if constexpr (Shape::kFp4) {
#pragma unroll
      for (int d = 0; d < Shape::kSums; d += 4) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int at = half * 2 + i;
          *reinterpret_cast<float4*>(to + d * 8 + lane % 4 * 8 + i * 4) = {
              sums[d][at], sums[d + 1][at], sums[d + 2][at], sums[d + 3][at]};
        }
      }
    } else {
#pragma unroll
      for (int d = 0; d < Shape::kSums; d += 2) {
        const float* first = &sums[d][half * 2];
        const float* second = &sums[d + 1][half * 2];
        if constexpr (Shape::kNarrow) {
          *reinterpret_cast<float4*>(to + d * 8 + lane % 4 * 4) = {first[0], second[0], first[1],
                                                                   second[1]};
        } else {
          *reinterpret_cast<float2*>(to + d * 8 + lane % 4 * 2) = {first[0], first[1]};
          *reinterpret_cast<float2*>(to + d * 8 + 8 + lane % 4 * 2) = {second[0], second[1]};
        }
      }
    }
  }
};

}  // namespace fictl::attention
