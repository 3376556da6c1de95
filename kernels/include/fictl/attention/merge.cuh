// MergeParts: the results of tiles whose keys were split over several items, merged into the rows
// of the output.
//
// Algorithm: a part is the mean of its values and the base-2 logarithm of the sum of its weights;
// parts are averaged with the weights 2^lse. Sinks, the scale of the values and the variant's
// output, which are of a whole row, are applied here.
//
// Traffic: 4 bytes an element and part, mostly from L2, where the kernel before left them. That is
// a few per cent of the traffic of the keys. What counts is the length of the chain of loads.
//
// Tiling: a row has a lane for every 4 values, 16 bytes each. A few parts of a row are added up by
// these lanes alone, four in flight each. Many parts are shared out to all lanes of the block, and
// meet in 8 KiB of shared memory. That is 32 parts of 128 dims at once, as many as a single long
// request is split into. The blocks of a tile take turns at its rows, or at groups of 8 rows. There
// are only some blocks an SM in all: the host does not know how many rows a tile has, and idle
// blocks take time too. 64 registers, 4 blocks on an SM, 64 KiB in flight on it.
//
// Starts while the kernel before it ends (PDL), and waits for it.
#pragma once

#include <fictl/attention/epilogue.cuh>
#include <fictl/attention/merged_part.cuh>
#include <fictl/attention/problem.cuh>
#include <fictl/device/copy.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/softmax.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::attention {

constexpr int kMergePartsThreads = 256;
constexpr int kMergePartsLoads = 4;     // parts in flight, a thread
constexpr int kMergePartsAlone = 8;     // parts of a row that one thread adds up
constexpr int kMergePartsBlocks = 512;  // wanted in all

// A sum that lanes exchange in shared memory. Why not a SoftmaxState: that one has initial values.
struct alignas(device::kVecBytes) MetPart {
  MergedPart::Sums sums;
  float max;
  float sum;
};

// Merges every step-th part of a tile's row, from part `first` on: four contiguous elements.
template <typename Config>
__device__ MergedPart merge_some(const Problem<Config>& problem, const Merge& merge, int kv_head,
                                 int row, int dim, int first, int step) {
  MergedPart merged;
  for (; first < merge.parts; first += step * kMergePartsLoads) {
    MergedPart::Sums means[kMergePartsLoads];
    float lses[kMergePartsLoads];
#pragma unroll
    for (int i = 0; i < kMergePartsLoads; ++i) {
      const int part = first + i * step;
      if (part >= merge.parts) continue;
      const int64_t from =
          (int64_t{merge.partial} + part * merge.rows + row) * problem.kv_heads + kv_head;
      means[i] =
          device::load_l2<MergedPart::kOf>(problem.partial_out + from * kValueDimOf<Config> + dim);
      lses[i] = problem.partial_lse[from];
    }
#pragma unroll
    for (int i = 0; i < kMergePartsLoads; ++i) {
      if (first + i * step < merge.parts) merged.add(means[i], lses[i]);
    }
  }
  return merged;
}

template <typename Config>
__device__ void store_merged(const Problem<Config>& problem, const Merge& merge, int kv_head,
                             int row, int dim, const MergedPart& merged) {
  Item item{};
  item.request = merge.request;
  item.row = merge.row;
  item.q_start = merge.q_start;
  item.q_len = merge.q_len;
  item.kv_len = merge.kv_len;
  item.partial = -1;
  store_merged(problem, item, kv_head, row, dim, merged);
}

// blockIdx.x is the merge, y the head of the keys; z and every gridDim.z-th from there are the rows
// of the tile, or as many rows as there are walkers.
template <typename Config>
__global__ void __launch_bounds__(kMergePartsThreads)
    MergePartsKernel(const __grid_constant__ Problem<Config> problem) {
  constexpr int kLanes = kValueDimOf<Config> / MergedPart::kOf;
  constexpr int kWalkers = kMergePartsThreads / kLanes;
  // Lanes that are left over walk over no rows.
  constexpr bool kLeft = kWalkers * kLanes < kMergePartsThreads;
  __shared__ MetPart met[kWalkers][kLanes];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int walker = static_cast<int>(threadIdx.x) / kLanes;
  const int kv_head = static_cast<int>(blockIdx.y);
  const int dim = lane * MergedPart::kOf;
  const int blocks = static_cast<int>(gridDim.z);
  const int block = static_cast<int>(blockIdx.z);

  if (threadIdx.x == 0) device::prefetch_line(&problem.merges[blockIdx.x]);
  device::pdl_wait();
  device::pdl_trigger();
  const Merge merge = problem.merges[blockIdx.x];
  const bool walks = !kLeft || walker < kWalkers;
  if (merge.parts <= kMergePartsAlone) {
    if (!walks) return;
    for (int row = block * kWalkers + walker; row < merge.rows; row += blocks * kWalkers) {
      const MergedPart merged = merge_some(problem, merge, kv_head, row, dim, 0, 1);
      store_merged(problem, merge, kv_head, row, dim, merged);
    }
    return;
  }
  for (int row = block; row < merge.rows; row += blocks) {
    MergedPart merged;
    if (walks) {
      merged = merge_some(problem, merge, kv_head, row, dim, walker, kWalkers);
      MetPart& own = met[walker][lane];
      own.sums = {{merged.sums[0], merged.sums[1], merged.sums[2], merged.sums[3]}};
      own.max = merged.state.max;
      own.sum = merged.state.sum;
    }
    __syncthreads();
    if (walker == 0) {
      for (int other = 1; other < kWalkers; ++other) {
        const MetPart& part = met[other][lane];
        merged.add(part.sums, device::SoftmaxState{part.max, part.sum});
      }
      store_merged(problem, merge, kv_head, row, dim, merged);
    }
    __syncthreads();  // Why: the next row's sums go where these are read.
  }
}

// Merges the parts of split tiles, after the kernel that computes them. Without merges it does
// nothing.
template <typename Config>
cudaError_t MergeParts(const Problem<Config>& problem, cudaStream_t stream = nullptr,
                       bool pdl = false) {
  if (problem.merge_count == 0 || problem.kv_heads == 0) return cudaSuccess;
  const int64_t tiles = int64_t{problem.merge_count} * problem.kv_heads;
  const int64_t rows = device::ceil_div(kMergePartsBlocks, tiles);
  device::LaunchConfig config;
  config.grid = dim3(problem.merge_count, problem.kv_heads,
                     static_cast<unsigned>(rows < Config::kRows ? rows : Config::kRows));
  config.block = dim3(kMergePartsThreads);
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<MergePartsKernel<Config>>(config, problem);
}

}  // namespace fictl::attention
