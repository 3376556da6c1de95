// The way out of step 5: sums, as bf16, to panels in shared memory, and bulk stores from there.
#pragma once

#include <fictl/device/hopper/named_barrier.cuh>
#include <fictl/device/hopper/proxy.cuh>
#include <fictl/device/hopper/stmatrix.cuh>

#include "step.cuh"

namespace hopper_steps {

constexpr int kPanels = 2;  // of a warpgroup: one is filled while the other one is on its way

struct Panel {
  T values[64][64];
};

__device__ inline uint32_t pair(float low, float high) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const uint32_t&>(both);
}

// 16 rows a warp and 16 columns a turn; lane l has the address of row l % 8 of matrix l / 8.
__device__ inline void fill(Panel& panel, const float* sums) {
  const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
  const int row = thread / 32 * 16 + thread % 16;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float* from = sums + 8 * j;
    const uint32_t byte = row * 128 + j * 32 + thread % 32 / 16 * 16;
    stmatrix_x4(&panel.values[0][0] + swizzled_byte<Swizzle::k128>(byte) / sizeof(T),
                pair(from[0], from[1]), pair(from[2], from[3]), pair(from[4], from[5]),
                pair(from[6], from[7]));
  }
}

template <int kCount>
__device__ void store_panels(const float (&sums)[kCount], Panel (&panels)[kPanels],
                             const CUtensorMap& d, NamedBarrier warpgroup, int row, int column) {
  const bool is_first = threadIdx.x % kWarpgroup == 0;
#pragma unroll
  for (int i = 0; i < kCount / 32; ++i) {
    Panel& panel = panels[i % kPanels];
    if (is_first) bulk_wait_read<kPanels - 1>();  // what was sent from this panel has been read
    warpgroup.sync();
    fill(panel, sums + 32 * i);
    fence_async_shared();
    warpgroup.sync();
    if (is_first) {
      store_tensor(d, &panel, column + 64 * i, row);
      bulk_commit();
    }
  }
}

}  // namespace hopper_steps
