// min_p: out is a token of every row, drawn by the weights where(probs >= base * max(probs), probs,
// 0).
//
// Algorithm: a row is cut into tiles of 512 adjacent tokens. A warp adds up the weights of a tile.
// When all sums are there, one random number says in which tile the token is: where the sums of
// tiles, one after the other, pass that part of the total. This tile is read again, and in it the
// same number says which token it is.
// Before all that, max_probs is found in the same way, tile by tile.
// Whichever warp has a tile adds it up in the same order, and the sums of tiles are added up in
// theirs: for the same random number a row gives the same token, whatever is batched with it and
// however many blocks share it. There are no atomics, and no draw is rejected.
//
// Traffic: a row is read twice, from the second time on from L2, and one tile of it once more. The
// limit is the bandwidth of the memory.
//
// Tiling: a thread loads 16 elements before it uses the first, and up to 32 warps of a block take
// tiles in turn: what an SM has in flight covers the latency of HBM. Where there are fewer rows
// than SMs, up to eight blocks share a row as a cluster, as one SM has only a hundredth of the
// memory's bandwidth; each writes the results of its tiles to the shared memory of all.
//
// If a pointer is not aligned to 16 bytes, or a pitch is not a multiple of four elements, these are
// read one by one.
#pragma once

#include <fictl/device/cluster.cuh>
#include <fictl/device/indices.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/sampling/philox.cuh>
#include <fictl/sampling/tiles.cuh>

namespace my_kernels::sampling {

namespace device = fictl::device;
namespace sampler = fictl::sampling;

constexpr int kMinPThreads = 1024;

// The arguments of a launch. Row strides (pitches) in elements.
template <typename T>
struct MinPArgs {
  int32_t* out;
  const T* probs;
  float base;
  device::Indices indices;  // the row of each token; without data it is the row of its number
  sampler::Draws draws;
  int64_t tokens;
  int64_t rows;
  int cols;
  int64_t probs_pitch;
  bool aligned;  // set by the launch
};

// The row of a token, which the blocks of a cluster share. Every thread calls everything, in the
// same order, and has the result.
template <typename T>
class MinPRow {
 public:
  using Args = MinPArgs<T>;
  // Results of tiles. Why twice: who is slow still reads one half while the other is written.
  struct Storage {
    float results[2][sampler::kMostTiles];
  };

  __device__ MinPRow(const Args& args, Storage& storage)
      : args_(args), storage_(storage), token_(blockIdx.x / device::Cluster::size()) {
    const int64_t row = args.indices.data == nullptr ? token_ : args.indices[token_];
    const bool is_there = row >= 0 && row < args.rows;
    size_ = is_there ? args.cols : 0;
    probs_ = {args.probs + (is_there ? row * args.probs_pitch : 0), size_, args.aligned};
    device::Cluster::sync();  // From here on the other blocks' shared memory is there.
  }

  template <typename Value>
  __device__ float max(Value value) {
    return reduce(device::Max(), value);
  }

  // Stores a token, as likely as its share of the weights. Weights not above 0, and NaN, count as
  // 0; without a positive weight the token is 0.
  template <typename Value>
  __device__ void draw(Value value) {
    const auto weight = [&](auto... x) { return positive(value(x...)); };
    const float* sums = each_tile(device::Sum(), weight);
    if (device::Cluster::rank() > 0 || threadIdx.x >= device::kWarpSize) return;
    const auto sum = [&](int tile) { return sums[tile]; };
    const float part = args_.draws.of(token_).uniform();
    const float target = part * sampler::total_of(sum, tiles());
    const sampler::Place place = sampler::place_of(sum, tiles(), target);
    int token = 0;
    if (place.at >= 0) {
      const sampler::LaneTile weights = load(place.at, weight, 0.0f);
      token = place.at * sampler::kTile + sampler::place_in_tile(weights, place.remaining);
    }
    if (threadIdx.x == 0) args_.out[token_] = token;
  }

 private:
  __device__ int tiles() const { return probs_.tiles(); }

  __device__ static float positive(float weight) { return weight > 0.0f ? weight : 0.0f; }

  // The values of a tile, by one warp. Beyond the end of the row they are `none`.
  template <typename Value>
  __device__ sampler::LaneTile load(int tile, Value value, float none) const {
    const sampler::LaneTile probs = probs_.load(tile, 0.0f);
    sampler::LaneTile result;
    const int left = size_ - tile * sampler::kTile;
#pragma unroll
    for (int i = 0; i < sampler::kLaneValues; ++i) {
      const bool is_inside = sampler::LaneTile::offset(i) < left;
      result.x[i] = is_inside ? value(probs.x[i]) : none;
    }
    return result;
  }

  template <typename Op, typename Value>
  __device__ float reduce(Op op, Value value) {
    const float* results = each_tile(op, value);
    float result = Op::kNone;
    for (int tile = threadIdx.x % device::kWarpSize; tile < tiles(); tile += device::kWarpSize) {
      result = op(result, results[tile]);
    }
    return device::warp_reduce(op, result);
  }

  // Reduces the values of each tile of the row by `op`, into the shared memory of every block.
  template <typename Op, typename Value>
  __device__ const float* each_tile(Op op, Value value) {
    float* results = storage_.results[half_];
    half_ ^= 1;
    const int lane = threadIdx.x % device::kWarpSize;
    const int warps = blockDim.x / device::kWarpSize;
    const int first = device::Cluster::rank() * warps + threadIdx.x / device::kWarpSize;
    for (int tile = first; tile < tiles(); tile += warps * device::Cluster::size()) {
      const sampler::LaneTile values = load(tile, value, Op::kNone);
      float result = values.x[0];
#pragma unroll
      for (int i = 1; i < sampler::kLaneValues; ++i) result = op(result, values.x[i]);
      result = device::warp_reduce(op, result);
      if (lane < device::Cluster::size()) device::Cluster::at(results, lane)[tile] = result;
    }
    device::Cluster::sync();
    return results;
  }

  const Args& args_;
  Storage& storage_;
  int half_ = 0;
  int64_t token_;
  int size_;
  sampler::TiledRow<T> probs_;
};

template <typename T>
__global__ void __launch_bounds__(kMinPThreads) MinPKernel(MinPArgs<T> args) {
  __shared__ typename MinPRow<T>::Storage storage;
  device::pdl_wait();
  device::pdl_trigger();
  MinPRow<T> row(args, storage);
  const float base = args.base;

  const float max_probs = row.max([&](float probs) { return probs; });
  row.draw([&](float probs) { return (probs >= base * max_probs ? probs : 0.0f); });
}

// A row has up to sampler::kMostElements tokens. `pdl`: use programmatic dependent launch where the
// GPU supports it.
template <typename T>
cudaError_t MinP(MinPArgs<T> args, int sm_count, cudaStream_t stream = nullptr, bool pdl = false) {
  constexpr int kLeast = 8 * sampler::kTile;  // of a row's tokens that are worth a block
  constexpr int kMostWarps = kMinPThreads / device::kWarpSize;
  if (args.tokens == 0) return cudaSuccess;
  args.aligned = true;
  args.aligned &= device::vec_aligned(args.probs);
  args.aligned &= args.probs_pitch % sampler::kTileVec == 0;

  const int blocks = device::blocks_a_row<MinPKernel<T>>(args.tokens, args.cols, kLeast, sm_count);
  const int64_t tiles = device::ceil_div(args.cols, sampler::kTile * blocks);
  const int warps = tiles < kMostWarps ? tiles : kMostWarps;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  config.cluster = dim3(blocks);
  config.grid = dim3(args.tokens * blocks);
  config.block = dim3(warps * device::kWarpSize);
  return device::launch<MinPKernel<T>>(config, args);
}

}  // namespace my_kernels::sampling
