// The parts that the steps share: the map of a matrix, the products of one stage, and the plain way
// from sums to memory.
//
// Each step computes D = A B^T with A as [m][k], B as [n][k] and D as [m][n], all bf16 and
// contiguous, of sizes that are multiples of its tile.
#pragma once

#include <fictl/device/hopper/bulk_copy.cuh>
#include <fictl/device/hopper/elect.cuh>
#include <fictl/device/hopper/guard.cuh>
#include <fictl/device/hopper/ring.cuh>
#include <fictl/device/hopper/tensor_map.cuh>
#include <fictl/device/hopper/wgmma/bf16.cuh>
#include <fictl/device/launch.cuh>

namespace hopper_steps {

using namespace fictl::device;
using T = __nv_bfloat16;

constexpr int kStageK = 64;  // 128 bytes: a row of the swizzle

// The map of a row-major matrix in boxes of `box_rows` x 64.
inline cudaError_t make_map(const void* data, int rows, int columns, int box_rows,
                            CUtensorMap* map) {
  auto spec = TensorMapSpec::matrix(static_cast<const T*>(data), rows, columns, columns);
  spec.box[0] = kStageK;
  spec.box[1] = static_cast<uint32_t>(box_rows);
  spec.swizzle = Swizzle::k128;
  return make_tensor_map(spec, map);
}

inline int sm_count() {
  int device = 0, count = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}

// sums (+)= a b^T over the values of K in a stage, by a warpgroup.
template <int kCount>
__device__ void multiply_stage(float (&sums)[kCount], const void* a, const void* b, bool adds) {
  const TileDescriptor a_tile = k_major_tile(a);
  const TileDescriptor b_tile = k_major_tile(b);
#pragma unroll
  for (int k = 0; k < kStageK; k += 16) {
    const uint32_t bytes = k * sizeof(T);
    wgmma<T>(sums, a_tile.advance(bytes), b_tile.advance(bytes), adds || k > 0);
  }
}

// Writes a warpgroup's 64 rows of sums to D, two columns at a time.
template <int kCount>
__device__ void store_sums(const float (&sums)[kCount], T* d, int64_t row_stride) {
  const AccumulatorLayout layout{static_cast<int>(threadIdx.x) % kWarpgroup};
#pragma unroll
  for (int i = 0; i < kCount; i += 2) {
    T* to = d + layout.row(i) * row_stride + layout.column(i);
    *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(sums[i], sums[i + 1]);
  }
}

}  // namespace hopper_steps
