// swiglu: out = x * sigmoid(gate), element by element, in fp32 and rounded once; a pipeline for
// Hopper.
//
// Algorithm: one block an SM stays and takes one tile after another. One thread, the producer, asks
// the copy engine for tiles ahead of time; eight warps, the consumers, transform what has arrived
// and ask the engine to store it:
//
//   producer    wait_empty, expect the bytes, load   | the next stage ...
//   consumers   wait_full, stage -> registers -> panel, fence, release the stage, store the panel
//
// What they wait for, and where it is in the kernel below:
//   ring.full       the stage's bytes have arrived: the copy engine counts them at an mbarrier
//   ring.empty      every consumer warp has read the stage: the next tile may overwrite it
//   fence           ordinary accesses to shared memory are over before the copy engine's begin. A
//                   barrier alone does not order the two: device/hopper/proxy.cuh has the rules
//   bulk_wait_read  the copy engine has read a panel: the warp may write it again
//
// Traffic: every element is read once and written once. Tiles on their way take shared memory, not
// registers, so few threads keep enough of them: 128 KiB an SM, where 25 cover the latency of HBM.
//
// Tiling: 16 rows of 512 bytes, 2 rows a consumer warp. Shorter rows leave a part of a tile empty.
//
// Edges: what a tile covers beyond the matrix is loaded as zero and is not stored, so no thread has
// a condition. Rows begin at multiples of 16 bytes, or there is no tensor map.
//
// out may be x or gate: a tile is stored by the block that has loaded it.
#pragma once

#include <fictl/device/functions.cuh>
#include <fictl/device/hopper/bulk_copy.cuh>
#include <fictl/device/hopper/elect.cuh>
#include <fictl/device/hopper/guard.cuh>
#include <fictl/device/hopper/proxy.cuh>
#include <fictl/device/hopper/ring.cuh>
#include <fictl/device/hopper/tensor_map.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/device/wide.cuh>

namespace my_kernels::hopper {

namespace device = fictl::device;

__device__ inline float swiglu_value(float x, float gate) { return x * device::sigmoid(gate); }

template <typename T, int N>
__device__ device::Vec<T, N> swiglu_vec(device::Vec<T, N> x, device::Vec<T, N> gate) {
  device::Vec<T, N> result;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    result[i] = device::narrow<T>(swiglu_value(device::widen(x[i]), device::widen(gate[i])));
  }
  return result;
}

template <typename T>
struct SwigluTile {
  static constexpr int kInputs = 2;
  static constexpr int kRows = 16;
  static constexpr int kCols = 512 / sizeof(T);
  static constexpr int kElements = kRows * kCols;
  static constexpr int kStageBytes = kInputs * kElements * sizeof(T);
  static constexpr int kStages = kInputs <= 2 ? 8 : 16 / kInputs;
  static constexpr int kPanels = 2;  // of a warp: one is written while the other is on its way
  static constexpr int kWarps = 8;   // consumers
  static constexpr int kWarpRows = kRows / kWarps;
  static constexpr int kWarpElements = kWarpRows * kCols;
  static constexpr int kThreads = (kWarps + 1) * 32;  // the last warp is the producer's
  static_assert(kStages >= 2, "tiles of more inputs are to be smaller");
};

// Shared memory of a block. The copy engine wants multiples of 128 bytes.
template <typename T>
struct SwigluShared {
  using Tile = SwigluTile<T>;
  alignas(128) T x[Tile::kStages][Tile::kElements];
  alignas(128) T gate[Tile::kStages][Tile::kElements];
  alignas(128) T panels[Tile::kWarps][Tile::kPanels][Tile::kWarpElements];
  device::Ring<Tile::kStages> ring;
};

// `tiles` are numbered row by row, `across` of them beside one another.
template <typename T>
__global__ void __launch_bounds__(SwigluTile<T>::kThreads, 1)
    SwigluKernel(const __grid_constant__ CUtensorMap out_map,
                 const __grid_constant__ CUtensorMap x_map,
                 const __grid_constant__ CUtensorMap gate_map, int tiles, int across) {
#ifdef FICTL_HOPPER
  using Tile = SwigluTile<T>;
  extern __shared__ __align__(128) unsigned char dynamic_shared[];
  auto& shared = *reinterpret_cast<SwigluShared<T>*>(dynamic_shared);
  auto& ring = shared.ring;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first = static_cast<int>(blockIdx.x);
  const int step = static_cast<int>(gridDim.x);

  if (threadIdx.x == 0) ring.init(Tile::kWarps);
  __syncthreads();
  device::pdl_wait();
  device::pdl_trigger();

  typename device::Ring<Tile::kStages>::Position at;
  if (warp == Tile::kWarps) {
    if (!device::elect_lane()) return;
    for (int tile = first; tile < tiles; tile += step, at.advance()) {
      const int row = tile / across * Tile::kRows;
      const int col = tile % across * Tile::kCols;
      ring.wait_empty(at);
      ring.expect(at, Tile::kStageBytes);  // the whole boxes, beyond the matrix too
      device::Mbarrier& full = ring.full[at.stage];
      device::load_tensor(shared.x[at.stage], x_map, full, col, row);
      device::load_tensor(shared.gate[at.stage], gate_map, full, col, row);
    }
    return;
  }

  constexpr int N = device::kVecBytes / sizeof(T);
  constexpr int kVecs = Tile::kWarpElements / (32 * N);  // a lane
  using Vec = device::Vec<T, N>;
  int turn = 0;
  for (int tile = first; tile < tiles; tile += step, at.advance()) {
    const int row = tile / across * Tile::kRows + warp * Tile::kWarpRows;
    const int col = tile % across * Tile::kCols;
    T* panel = shared.panels[warp][turn++ % Tile::kPanels];
    if (lane == 0) device::bulk_wait_read<Tile::kPanels - 1>();
    __syncwarp();
    ring.wait_full(at);
    Vec x[kVecs];
    Vec gate[kVecs];
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {  // all loads first: no store keeps the next one waiting
      const int from = warp * Tile::kWarpElements + (i * 32 + lane) * N;
      x[i] = *reinterpret_cast<const Vec*>(&shared.x[at.stage][from]);
      gate[i] = *reinterpret_cast<const Vec*>(&shared.gate[at.stage][from]);
    }
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      Vec* to = reinterpret_cast<Vec*>(panel) + i * 32 + lane;
      *to = swiglu_vec(x[i], gate[i]);
    }
    // Both before the producer's next load into the stage, and before the store of the panel.
    device::fence_async_shared();
    __syncwarp();
    if (lane == 0) {
      ring.release(at);
      device::store_tensor(out_map, panel, col, row);
      device::bulk_commit();
    }
  }
  // The panels must exist until they have been read.
  if (lane == 0) device::bulk_wait_read<0>();
#endif
}

// One copy moves the box of a map: an input's tile, or a warp's rows of out.
template <typename T>
device::TensorMapSpec swiglu_map(const T* data, int64_t rows, int64_t cols, int64_t pitch,
                                 int box_rows) {
  using Tile = SwigluTile<T>;
  const int64_t stride = rows > 1 ? pitch : Tile::kCols;  // that of a single row may be anything
  return device::TensorMapSpec::of(data).with(cols, 1, Tile::kCols).with(rows, stride, box_rows);
}

// Maps are those of swiglu_map(). `pdl`: use programmatic dependent launch.
template <typename T>
cudaError_t Swiglu(const CUtensorMap& out, const CUtensorMap& x, const CUtensorMap& gate,
                   int64_t rows, int64_t cols, int sm_count, cudaStream_t stream = nullptr,
                   bool pdl = false) {
  using Tile = SwigluTile<T>;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const int64_t across = device::ceil_div(cols, Tile::kCols);
  const int64_t tiles = device::ceil_div(rows, Tile::kRows) * across;
  if (tiles > INT32_MAX) return cudaErrorInvalidValue;
  device::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(tiles < sm_count ? tiles : sm_count));
  config.block = dim3(Tile::kThreads);
  config.shared_bytes = sizeof(SwigluShared<T>);
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<SwigluKernel<T>>(config, out, x, gate, static_cast<int>(tiles),
                                         static_cast<int>(across));
}

}  // namespace my_kernels::hopper
