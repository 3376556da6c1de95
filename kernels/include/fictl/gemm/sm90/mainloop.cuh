// Main loop of a GEMM for Hopper: one thread loads stages, two warpgroups multiply them.
//
// A consumer keeps one group of products in flight: it releases a stage when the next one's
// products have been issued, so that the tensor cores find work while it waits.
#pragma once

#include <fictl/device/hopper/wgmma.cuh>
#include <fictl/gemm/sm90/operand.cuh>
#include <fictl/gemm/sm90/sums.cuh>

namespace fictl::gemm {

template <typename Tile>
struct ClusterPlace {
  int x = 0;  // in the cluster
  int y = 0;

  __device__ explicit ClusterPlace(int rank)
      : x(Tile::kSharing == 1 ? 0 : rank % Tile::kClusterX),
        y(Tile::kSharing == 1 ? 0 : rank / Tile::kClusterX) {}

  // Blocks with the same tile of Y, and of X, as bits.
  __device__ uint16_t along_x() const {
    return static_cast<uint16_t>(((1 << Tile::kClusterX) - 1) << y * Tile::kClusterX);
  }
  __device__ uint16_t along_y() const {
    uint16_t blocks = 0;
    for (int i = 0; i < Tile::kClusterY; ++i) blocks |= 1 << (i * Tile::kClusterX + x);
    return blocks;
  }
};

// Where the tiles of both operands begin in the tensors.
struct TileOrigins {
  TileOrigin x;
  TileOrigin y;
};

// Loads the stages of one work item; by one thread. `bytes`: of a stage, for this block.
template <typename Tile, typename Stages, device::Major kMajorX, device::Major kMajorY,
          typename Shared>
__device__ void load_stages(Shared& shared, typename decltype(shared.ring)::Position& at,
                            const CUtensorMap& x, const CUtensorMap& y, TileOrigins from,
                            ClusterPlace<Tile> place, int steps, uint32_t bytes) {
  // Weights of few rows are read once; what blocks share stays.
  constexpr auto kHintX =
      Tile::kExchanged ? device::CacheHint::kEvictFirst : device::CacheHint::kNormal;
  for (int step = 0; step < steps; ++step, at.advance()) {
    shared.ring.wait_empty(at);
    shared.ring.expect(at, bytes);
    device::Mbarrier& full = shared.ring.full[at.stage];
#pragma unroll
    for (int panel = 0; panel < Tile::kPanelsK; ++panel) {
      load_panel<kMajorX, Tile::kX, Tile::kClusterY>(shared.x(at.stage) + panel * Stages::kXPanel,
                                                     x, full, from.x, place.y, place.along_y(),
                                                     kHintX);
      from.x.k += kPanelK;
    }
#pragma unroll
    for (int panel = 0; panel < Tile::kPanelsK; ++panel) {
      load_panel<kMajorY, Tile::kY, Tile::kClusterX>(shared.y(at.stage) + panel * Stages::kYPanel,
                                                     y, full, from.y, place.x, place.along_x(),
                                                     device::CacheHint::kNormal);
      from.y.k += kPanelK;
    }
  }
}

// Hands a stage back to every block that has sent a part of it.
template <typename Tile, typename Ring>
__device__ void release_stage(Ring& ring, const typename Ring::Position& at, int lane) {
  if constexpr (Tile::kSharing == 1) {
    if (lane == 0) ring.release(at);
  } else {
    if (lane < Tile::kSharing) ring.release_at(at, lane);
  }
}

// sums = X Y^T over `steps` stages. `first_row`: of the warpgroup, in the tile.
template <typename T, typename Tile, typename Stages, device::Major kMajorX, device::Major kMajorY,
          typename Shared>
__device__ void multiply_stages(Sums<Tile>& sums, Shared& shared,
                                typename decltype(shared.ring)::Position& at, int first_row,
                                int steps, int lane) {
  using X = OperandTile<kMajorX>;
  using Y = OperandTile<kMajorY>;
  const device::TileDescriptor x0 = X::at(shared.x(0) + first_row * kRowBytes);
  const device::TileDescriptor y0 = Y::at(shared.y(0));
  if constexpr (Tile::kParts > 1) {
    if (steps == 0) {  // fewer steps than parts
      for (auto& block : sums) {
        for (float& sum : block) sum = 0.0f;
      }
      return;
    }
  }
  auto previous = at;
  for (auto& block : sums) device::pin(block);
  for (int step = 0; step < steps; ++step) {
    shared.ring.wait_full(at);
    const device::TileDescriptor x = x0.advance(at.stage * Stages::kBytes);
    const device::TileDescriptor y = y0.advance(at.stage * Stages::kBytes);
    device::wgmma_begin();
#pragma unroll
    for (int k = 0; k < Tile::kStepK / 16; ++k) {
      constexpr int kInPanel = kPanelK / 16;
      constexpr auto in_panels = [](int k, int panel, int next) {
        return k / kInPanel * panel + k % kInPanel * next;
      };
      const uint32_t x_offset = in_panels(k, Stages::kXPanel, X::kNextK);
      const uint32_t y_offset = in_panels(k, Stages::kYPanel, Y::kNextK);
#pragma unroll
      for (int block = 0; block < Tile::kBlocks; ++block) {
        constexpr uint32_t kBlockBytes = device::kWgmmaM * kRowBytes;
        device::wgmma<T, kMajorX, kMajorY>(sums[block], x.advance(x_offset + block * kBlockBytes),
                                           y.advance(y_offset), step > 0 || k > 0);
      }
    }
    device::wgmma_commit();
    device::wgmma_wait<1>();
    if (step > 0) release_stage<Tile>(shared.ring, previous, lane);
    previous = at;
    at.advance();
  }
  device::wgmma_wait<0>();
  for (auto& block : sums) device::pin(block);
  release_stage<Tile>(shared.ring, previous, lane);
}

}  // namespace fictl::gemm
