// The tile of a GEMM for Hopper: what a block computes, and how its shared memory is divided.
//
// wgmma's rows come from operand X and its columns from operand Y. Usually X is A and Y is B; with
// few rows in A the operands are exchanged, so that the 64 rows of an instruction are full of
// weights.
//
//   cooperative   two warpgroups share a tile, each half of its rows
//   ping-pong     each has a tile of its own, and stores it while the other one multiplies
#pragma once

#include <stdint.h>

#include <fictl/device/hopper/accumulator.cuh>
#include <fictl/device/hopper/descriptor.cuh>
#include <fictl/device/hopper/ring.cuh>

namespace fictl::gemm {

constexpr int kPanelK = 64;  // 128 bytes of 16-bit values: a swizzled row
constexpr int kConsumers = 2;
constexpr int kRowBytes = 128;

enum class Schedule { kCooperative, kPingPong };

template <int kX_, int kY_, Schedule kSchedule_, int kClusterX_ = 1, int kClusterY_ = 1,
          bool kExchanged_ = false, int kPanelsK_ = 1, int kParts_ = 1>
struct Tile {
  static constexpr int kX = kX_;
  static constexpr int kY = kY_;
  static constexpr Schedule kSchedule = kSchedule_;
  static constexpr bool kPingPong = kSchedule == Schedule::kPingPong;
  // Blocks of a cluster along X share the tile of Y, and each loads a part of it for all.
  static constexpr int kClusterX = kClusterX_;
  static constexpr int kClusterY = kClusterY_;
  static constexpr int kSharing = kClusterX * kClusterY;
  // Or each has a part of the tile's K.
  static constexpr int kParts = kParts_;
  static constexpr int kClusterBlocks = kSharing * kParts;
  static constexpr bool kExchanged = kExchanged_;

  // Values of K in a stage. More than one panel of them where rows come from device memory: longer
  // runs of a row at a time suit its pages.
  static constexpr int kPanelsK = kPanelsK_;
  static constexpr int kStepK = kPanelsK * kPanelK;

  // Blocks of 64 rows that a warpgroup computes.
  static constexpr int kRows = kPingPong ? kX : kX / kConsumers;
  static constexpr int kBlocks = kRows / device::kWgmmaM;
  static constexpr int kThreads = (1 + kConsumers) * device::kWarpgroup;
  static constexpr int kConsumerWarps = (kPingPong ? 1 : kConsumers) * 4;
  // Blocks whose copies write a block's stages, itself among them.
  static constexpr int kSenders = kClusterX + kClusterY - 1;

  static_assert(kRows % device::kWgmmaM == 0, "a warpgroup computes blocks of 64 rows");
  static_assert(kBlocks * kY <= 256, "a thread holds up to 128 sums");
  static_assert(kY % 8 == 0 && kY >= 8 && kY <= 256, "wgmma has 8, 16, ... 256 columns");
  static_assert(kX % kClusterY == 0 && kY % (8 * kClusterX) == 0, "parts of a shared tile");
  static_assert(kClusterX == 1 || kClusterY == 1, "a cluster shares one operand");
  static_assert(kParts == 1 || kSharing == 1, "a cluster shares operands, or divides K");
  static_assert(kParts == 1 || kBlocks * kY <= 64, "sums of a part fit the panels");
};

// Panels of sums on their way out: two for each warpgroup.
constexpr int kPanelBytes = 64 * kRowBytes;
constexpr int kPanels = 2;
constexpr int kSharedBytes = 232448;  // of a block, on sm_90

// Bytes of a panel of K of `rows`: along K a row has 128 bytes; otherwise 64 rows are together.
template <device::Major kMajor>
constexpr int panel_bytes(int rows) {
  const int whole = kMajor == device::Major::kK ? rows : (rows + 63) / 64 * 64;
  return whole * kRowBytes;
}

template <typename Tile, device::Major kMajorX, device::Major kMajorY>
struct Stages {
  static constexpr int kXPanel = panel_bytes<kMajorX>(Tile::kX);
  static constexpr int kYPanel = panel_bytes<kMajorY>(Tile::kY);
  static constexpr int kXBytes = Tile::kPanelsK * kXPanel;
  static constexpr int kYBytes = Tile::kPanelsK * kYPanel;
  static constexpr int kBytes = kXBytes + kYBytes;
  static constexpr int kRoom =
      kSharedBytes - 2 * int{device::kPatternBytes} - kConsumers * kPanels * kPanelBytes;
  static constexpr int kMost = 16;
  static constexpr int kCount = kRoom / kBytes < kMost ? kRoom / kBytes : kMost;
  static_assert(kCount >= 2, "a ring needs two stages");
};

// Messages between blocks that each have a part of K: see cluster_parts.cuh.
struct PartBarriers {
  device::Mbarrier handed[kConsumers];  // of block 0: the other blocks' sums are there
  device::Mbarrier taken[kConsumers];   // of the others: block 0 has read them
};

// Shared memory of a block.
template <typename Stages>
struct SharedTiles {
  alignas(device::kPatternBytes) unsigned char stages[Stages::kCount][Stages::kBytes];
  alignas(device::kPatternBytes) unsigned char panels[kConsumers][kPanels][kPanelBytes];
  device::Ring<Stages::kCount> ring;
  PartBarriers parts;

  __device__ unsigned char* x(int stage) { return stages[stage]; }
  __device__ unsigned char* y(int stage) { return stages[stage] + Stages::kXBytes; }
};

}  // namespace fictl::gemm
