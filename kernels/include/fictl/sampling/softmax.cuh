// softmax: exp(x / temperature) of every number of a row, over their sum.
//
// Algorithm: a warp reads a tile of 512 numbers and keeps its largest one and the sum of exp(x -
// max), which it sends to all blocks of the row. With those of all tiles, every block knows the
// row's, and writes exp(x - max) / sum of what it has read. An exponential a number each time.
//
// Traffic: the row is read once and written once. In between it stays where it was read: in the
// registers of its warps, each of which has a tile there, and in shared memory. On an H200 that is
// 64 K floats an SM; what is more is read again, from L2.
//
// Tiling: the blocks of a cluster share a row: 8 where rows are few, 2 where a row does not fit one
// SM; online.cuh has the numbers. The sums cross blocks once, by distributed shared memory, and the
// barrier for that is the only one of the kernel. The next tile is loaded before one is worked on:
// 16 warps have 32 to 64 KB on their way, which covers the latency of HBM.
//
// The sums do not depend on which block reads a tile: the result is the same bit by bit, however
// many blocks share the row.
//
// Where rows are not aligned to vectors, elements are loaded one by one, all tiles go to shared
// memory, and adjacent lanes write adjacent elements: half a store's sectors would be written in
// vain else.
#pragma once

#include <fictl/device/indices.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/shared_parts.cuh>
#include <fictl/sampling/filter.cuh>
#include <fictl/sampling/online.cuh>

namespace fictl::sampling {

constexpr int kSoftmaxThreads = kMostWarps * device::kWarpSize;

// One for all rows, or one per row; null if all rows share one.
struct Temperature {
  const float* of_rows = nullptr;
  float of_all = 1.0f;

  // The factor of the logits. Why 0 for 0: then all are equally likely, in place of NaN.
  __device__ float factor(int64_t row) const {
    const float temperature = of_rows == nullptr ? of_all : of_rows[row];
    return temperature == 0.0f ? 0.0f : 1.0f / temperature;
  }
};

template <typename T>
struct SoftmaxTensors {
  Rows<T> logits;
  float* probs;
  int64_t pitch;  // of probs
  Temperature temperature;
};

// A tile's numbers over the temperature; what is beyond the row's end is -inf whatever that is. Why
// __fmul_rn, not *: with the subtraction of the maximum that follows it would become one operation,
// and what is the largest rounded could come out above it.
__device__ inline LaneTile scaled(LaneTile lane, float factor, int tile, int size) {
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) lane.x[i] = __fmul_rn(lane.x[i], factor);
  if ((tile + 1) * kTile <= size) return lane;
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) {
    if (tile * kTile + LaneTile::offset(i) >= size) lane.x[i] = -INFINITY;
  }
  return lane;
}

// Tiles of a warp in its block's shared memory, with the elements in their order.
template <typename T>
class KeptTiles {
 public:
  __device__ explicit KeptTiles(unsigned char* memory)
      : first_(reinterpret_cast<T*>(memory) + threadIdx.x / device::kWarpSize * kTile),
        step_(ClusterWarps::warps_a_block() * kTile) {}

  __device__ T* tile(int round) const { return first_ + round * step_; }

  __device__ void put(int round, const PackedTile<T>& packed) {
#pragma unroll
    for (int i = 0; i < kTileParts; ++i) *part(round, i) = packed.parts[i];
  }

  // Reads what the same lane has written there.
  __device__ PackedTile<T> get(int round) const {
    PackedTile<T> packed;
#pragma unroll
    for (int i = 0; i < kTileParts; ++i) packed.parts[i] = *part(round, i);
    return packed;
  }

 private:
  using Part = device::Vec<T, kTileVec>;

  __device__ Part* part(int round, int i) const {
    return reinterpret_cast<Part*>(tile(round) + LaneTile::offset(i * kTileVec));
  }

  T* first_;
  int step_;
};

// The output of a row, and the conversion of its numbers to probabilities.
struct SoftmaxOutput {
  float* to;
  int size;
  ExpSum total;
  float inverse;

  __device__ float probability(float x) const { return exp_below(x, total.max) * inverse; }

  // Stores a tile of an aligned row.
  __device__ void store(int tile, const LaneTile& lane) const {
    const int start = tile * kTile;
    if (start + kTile <= size) {
#pragma unroll
      for (int part = 0; part < kTileParts; ++part) {
        device::Vec<float, kTileVec> vec;
#pragma unroll
        for (int i = 0; i < kTileVec; ++i) vec[i] = probability(lane.x[part * kTileVec + i]);
        device::store_l2(to + start + LaneTile::offset(part * kTileVec), vec);
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < kLaneValues; ++i) {
      const int at = start + LaneTile::offset(i);
      if (at < size) to[at] = probability(lane.x[i]);
    }
  }

  // Stores a tile that is read again, from memory of any kind. Adjacent lanes have adjacent
  // elements.
  template <typename T>
  __device__ void store_again(int tile, const T* from, float factor) const {
    const int left = size - tile * kTile;
    float* start = to + tile * kTile;
    const int lane = threadIdx.x % device::kWarpSize;
#pragma unroll
    for (int i = 0; i < kLaneValues; ++i) {
      const int at = i * device::kWarpSize + lane;
      if (at < left) {
        start[at] = probability(__fmul_rn(device::Element<T>::to_float(from[at]), factor));
      }
    }
  }
};

// blockIdx.x counts the blocks of row after row; each has room for `kept` tiles a warp.
template <typename T>
__global__ void __launch_bounds__(kSoftmaxThreads, 2)
    SoftmaxKernel(SoftmaxTensors<T> of, int kept) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int64_t index = blockIdx.x / device::Cluster::size();
  const int first = ClusterWarps::own();
  const int step = ClusterWarps::count();
  const TiledRow<T> row = of.logits[index];
  const int tiles = row.tiles();
  const size_t kept_bytes = int64_t{kept} * ClusterWarps::warps_a_block() * kTile * sizeof(T);
  KeptTiles<T> keeping(shared + device::shared_part(shared, "kept tiles", size_t{0}, kept_bytes));
  ExpSum* sums = reinterpret_cast<ExpSum*>(
      shared + device::shared_part(shared, "sums", kept_bytes, tiles * sizeof(ExpSum)));
  device::pdl_wait();
  device::pdl_trigger();
  device::Cluster::arrive();
  const float factor = of.temperature.factor(index);
  TilesAhead<T> ahead(row, first, step);
  device::Cluster::wait();

  LaneTile lane;
  int tile = first;
  int round = 0;
  while (ahead.left()) {
    tile = ahead.tile();
    const PackedTile<T> packed = ahead.take();
    if (round < kept && (ahead.left() || !row.aligned)) keeping.put(round, packed);
    lane = scaled(packed.unpacked(), factor, tile, row.size);
    const ExpSum sum = exp_sum(lane);
    const int rank = threadIdx.x % device::kWarpSize;
    if (rank < device::Cluster::size()) device::Cluster::at(sums, rank)[tile] = sum;
    ++round;
  }
  device::Cluster::sync();

  const ExpSum total = exp_sum_of(sums, tiles);
  const SoftmaxOutput output{of.probs + index * of.pitch, row.size, total, 1.0f / total.sum};
  if (first >= tiles) return;
  if (!row.aligned) {
    for (; round-- > 0; tile -= step) {
      const T* again = round < kept ? keeping.tile(round) : row.data + tile * kTile;
      output.store_again(tile, again, factor);
    }
    return;
  }
  output.store(tile, lane);
  // Why backwards: the elements read last are the likeliest to be in L2.
  for (round -= 2; round >= 0; --round) {
    tile -= step;
    const PackedTile<T> packed =
        round < kept ? keeping.get(round) : row.load_packed(tile, -INFINITY);
    output.store(tile, scaled(packed.unpacked(), factor, tile, row.size));
  }
}

// The number of tiles for which a warp has room in shared memory.
template <typename T>
int tiles_kept(int warps, int tiles, int shared_bytes) {
  return static_cast<int>((shared_bytes - tiles * int64_t{sizeof(ExpSum)}) /
                          (int64_t{warps} * kTile * sizeof(T)));
}

template <typename T>
cudaError_t LaunchSoftmax(const SoftmaxTensors<T>& of, const RowShares& shares, int shared_bytes,
                          cudaStream_t stream, bool pdl) {
  const int tiles = tiles_of(of.logits.size);
  const int room = tiles_kept<T>(shares.warps, tiles, shared_bytes);
  const int wanted = shares.rounds(tiles) - (of.logits.aligned ? 1 : 0);
  const int kept = wanted < room ? wanted : room;
  device::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(of.logits.count) * shares.blocks);
  config.block = dim3(shares.threads());
  config.cluster = dim3(shares.blocks);
  config.shared_bytes = kept * size_t{kTile} * shares.warps * sizeof(T) + tiles * sizeof(ExpSum);
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<SoftmaxKernel<T>>(config, of, kept);
}

// Rows of up to kMostElements; logits and probs are aligned to vectors alike. `shared_bytes` is
// what a block may have. `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename T>
cudaError_t Softmax(const SoftmaxTensors<T>& of, int sm_count, int shared_bytes,
                    cudaStream_t stream = nullptr, bool pdl = false) {
  if (of.logits.count == 0 || of.logits.size == 0) return cudaSuccess;
  const int tiles = tiles_of(of.logits.size);
  // Beside those in registers. A quarter of a row may be read again.
  const int on_chip = kMostWarps * (1 + tiles_kept<T>(kMostWarps, tiles, shared_bytes));
  const RowShares shares =
      row_shares<SoftmaxKernel<T>>(of.logits.count, tiles, sm_count, on_chip + on_chip / 3);
  return LaunchSoftmax(of, shares, shared_bytes, stream, pdl);
}

}  // namespace fictl::sampling
