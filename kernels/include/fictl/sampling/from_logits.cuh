// Draws one token from each row of logits, as from their softmax, which is never written down.
//
// Algorithm: a warp reads a tile of 512 numbers and sends its maximum and the sum of exp(x - max)
// to the row's first block. Scaled to the row's largest, the sums are the weights of the tiles. The
// first block finds the tile where their cumulative sum passes a random number, reads that tile
// again and finds the token. One random number a row. Why not the largest of logits with Gumbel
// noise: a random number and two logarithms an element take longer than its way from memory.
//
// Traffic: the row is read once; one of its tiles twice, the second time from L2.
//
// Tiling: the blocks of a cluster share a row where rows are few; online.cuh has the numbers. The
// next tile is loaded before one is worked on. All but the first block end when they have sent
// their sums.
//
// The sums do not depend on which block reads a tile: a token is the same, however many blocks
// share the row.
#pragma once

#include <fictl/device/indices.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/shared_parts.cuh>
#include <fictl/sampling/filter.cuh>
#include <fictl/sampling/online.cuh>
#include <fictl/sampling/philox.cuh>

namespace fictl::sampling {

constexpr int kFromLogitsThreads = kMostWarps * device::kWarpSize;

// NaN as -inf, which has no weight, and +inf as the largest number, beside which others have none.
__device__ inline LaneTile finite(LaneTile lane) {
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) lane.x[i] = fminf(fmaxf(lane.x[i], -INFINITY), FLT_MAX);
  return lane;
}

// The sum of a tile, in every lane.
__device__ inline ExpSum finite_exp_sum(const LaneTile& lane) {
  const ExpSum sum = exp_sum(lane);
  // Why not finite() at once: two of an element's eight instructions, and hardly ever of use.
  return sum.sum == sum.sum ? sum : exp_sum(finite(lane));
}

// Where `drawn`, over (0, 1], falls in a row: -1 where no number is above -inf. Called by one warp;
// `weights` has room for one a tile.
template <typename T>
__device__ int draw_of(const TiledRow<T>& row, const ExpSum* sums, float* weights, float drawn) {
  const int tiles = row.tiles();
  const float max = max_of(sums, tiles);
  float total = 0.0f;
  for (int i = threadIdx.x % device::kWarpSize; i < tiles; i += device::kWarpSize) {
    weights[i] = sums[i].sum * exp_below(sums[i].max, max);
    total += weights[i];
  }
  __syncwarp();
  const auto weight = [&](int i) { return weights[i]; };
  const Place place = place_of(weight, tiles, drawn * device::warp_sum(total));
  if (place.at < 0) return -1;
  const ExpSum tile = sums[place.at];
  LaneTile lane = finite(row.load(place.at, -INFINITY));
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) lane.x[i] = exp_below(lane.x[i], tile.max);
  return place.at * kTile + place_in_tile(lane, place.remaining / exp_below(tile.max, max));
}

// blockIdx.x counts the blocks of output after output. Dynamic shared memory: an ExpSum and a float
// for each tile of a row.
template <typename T>
__global__ void __launch_bounds__(kFromLogitsThreads, 2)
    FromLogitsKernel(Rows<T> logits, device::Indices rows, Draws draws, Drawn drawn) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int64_t i = blockIdx.x / device::Cluster::size();
  device::pdl_wait();
  device::pdl_trigger();
  device::Cluster::arrive();
  const TiledRow<T> row = logits[rows.data == nullptr ? i : rows[i]];
  ExpSum* sums = reinterpret_cast<ExpSum*>(
      shared + device::shared_part(shared, "sums", size_t{0}, row.tiles() * sizeof(ExpSum)));
  TilesAhead<T> ahead(row, ClusterWarps::own(), ClusterWarps::count());
  // Why now: while the first tiles are on their way it takes no time.
  const bool draws_it = device::Cluster::rank() == 0 && threadIdx.x < device::kWarpSize;
  const float number = draws_it ? draws.of(i).uniform() : 0.0f;
  device::Cluster::wait();
  while (ahead.left()) {
    const int tile = ahead.tile();
    const ExpSum sum = finite_exp_sum(ahead.take().unpacked());
    if (threadIdx.x % device::kWarpSize == 0) device::Cluster::at(sums, 0)[tile] = sum;
  }
  device::Cluster::arrive();
  if (device::Cluster::rank() != 0) return;
  device::Cluster::wait();
  if (!draws_it) return;
  // Behind the sums.
  const size_t room = row.tiles() * sizeof(float);
  float* weights = reinterpret_cast<float*>(sums + row.tiles());
  weights += device::shared_part(weights, "weights", size_t{0}, room) / sizeof(float);
  const int token = draw_of(row, sums, weights, number);
  if (threadIdx.x == 0) drawn.put(i, token);
}

template <typename T>
cudaError_t LaunchFromLogits(const Rows<T>& logits, device::Indices rows, int64_t batch,
                             const Draws& draws, const Drawn& drawn, const RowShares& shares,
                             cudaStream_t stream, bool pdl) {
  device::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(batch) * shares.blocks);
  config.block = dim3(shares.threads());
  config.cluster = dim3(shares.blocks);
  config.shared_bytes = tiles_of(logits.size) * (sizeof(ExpSum) + sizeof(float));
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<FromLogitsKernel<T>>(config, logits, rows, draws, drawn);
}

// `batch` tokens of rows of up to kMostElements, the i-th from the row rows[i], or i where there
// are none. A row that there is not gives 0, as one of -inf alone does. `pdl`: use programmatic
// dependent launch where the GPU supports it.
template <typename T>
cudaError_t FromLogits(const Rows<T>& logits, device::Indices rows, int64_t batch,
                       const Draws& draws, const Drawn& drawn, int sm_count,
                       cudaStream_t stream = nullptr, bool pdl = false) {
  if (batch == 0) return cudaSuccess;
  const RowShares shares =
      row_shares<FromLogitsKernel<T>>(batch, tiles_of(logits.size), sm_count, kMostTiles);
  return LaunchFromLogits(logits, rows, batch, draws, drawn, shares, stream, pdl);
}

}  // namespace fictl::sampling
