// all_reduce_norm: each row of the sum over the ranks is added to a residual and normalized, and
// may be quantized. Algorithm and traffic of the sum: row_exchange.cuh.
//   sum       = all_reduce(contribution), rounded
//   residual  = sum + residual_in, rounded
//   norm      = residual / sqrt(mean(residual^2) + eps) * (gamma + weight_bias), rounded
//   output    = quantized norm (row_quantization.cuh)
// Each of them is written where it is asked for.
//
// Tiling: a thread has one vector of a row, two where rows have more than 1024. A row has up to 32
// warps, of up to 8 blocks of a cluster where rows are few: what an SM sends is limited, and at
// decode there is a row for each of few tokens. GPUs without clusters have a row a block. Where
// rows are more than fit at once, each has a block of up to 8 warps with four vectors a thread, two
// blocks an SM: twice and more of the bytes are under way, and no cluster waits for its slowest
// block. Sums over a row are in one order, whatever the tiling: how many rows there are does not
// change one.
//
// Residual and weight are loaded before the wait for the peers.
#pragma once

#include <fictl/comm/contribution.cuh>
#include <fictl/comm/row_quantization.cuh>

namespace fictl::comm {

// Outputs that are null are not written. residual_out may be residual_in; any output may be input.
template <typename T>
struct NormArguments {
  Contribution<T> contribution;
  const T* residual_in = nullptr;
  const T* gamma = nullptr;  // [hidden]
  T* sum_out = nullptr;
  T* residual_out = nullptr;
  T* norm_out = nullptr;
  float eps = 1e-6f;
  float weight_bias = 0.0f;
  float inverse_hidden = 0.0f;
  RowQuantization quantization;
};

// kManyRows: a row a block, of which an SM has two.
template <typename T, int kVecsOfThread, bool kManyRows = false>
class NormJob {
 public:
  using Element = T;
  using Arguments = NormArguments<T>;
  static constexpr int kVecs = kVecsOfThread;
  static constexpr int kThreads = kManyRows ? 256 : 512;
  static constexpr int kBlocksOfSm = kManyRows ? 2 : 1;
  static constexpr bool kLoadsAhead = false;
  static constexpr bool kClusters = !kManyRows;
  // As registers admit.
  static constexpr int kBlocksOfOneStep = kManyRows || kVecs == 1 ? 2 : 1;
  static constexpr int kMostRanksOfOneStep = 4;
  static constexpr int N = kPieceBytes / sizeof(T);
  using Reduce = RowReduce<kClusters>;

  __device__ NormJob(const Arguments& arguments, const RowsShape& shape)
      : arguments_(arguments), shape_(shape), reduce_(storage()) {
    // Why: a block writes to the others only when all have begun.
    if (kClusters) Reduce::Grid::sync();
  }

  __device__ void finish_call() const {
    RowQuantizer<T, Reduce>::pad(arguments_.quantization, shape_.rows);
  }

  __device__ uint4 load(int row, int at) const { return arguments_.contribution.load(row, at); }

  template <typename Place>
  __device__ void expect(const Place& place, int row) {
    clear_row(residual_);
    place.each(row, [&](int i, int at) {
      residual_[i] = device::load_l2<N>(arguments_.residual_in + int64_t{at} * N).bits();
    });
    if (!kManyRows) load_gamma(place, row);
  }

  template <typename Place>
  __device__ void finish(const Place& place, int row, uint4 (&sums)[kVecs]) {
    float squares[kVecs] = {};
    place.each(row, [&](int i, int at) {
      store(arguments_.sum_out, at, piece_of<T>(sums[i]));
      squares[i] = add_residual(i, sums[i]);
      store(arguments_.residual_out, at, piece_of<T>(sums[i]));
    });
    // Why not before the wait, where rows are many: of all but the first it is in L1.
    if (kManyRows) load_gamma(place, row);
    const float mean = reduce_(device::Sum(), squares) * arguments_.inverse_hidden;
    const float factor = rsqrtf(mean + arguments_.eps);
    Piece<T> norms[kVecs];
    bool has[kVecs] = {};
#pragma unroll
    for (Piece<T>& norm : norms) norm = piece_of<T>(make_uint4(0, 0, 0, 0));
    place.each(row, [&](int i, int at) {
      has[i] = true;
      norms[i] = normalized(i, sums[i], factor);
      store(arguments_.norm_out, at, norms[i]);
    });
    if (arguments_.quantization.kind == Quantizes::kNothing) return;
    const RowQuantizer<T, Reduce> quantize(arguments_.quantization, reduce_);
    quantize(
        row, shape_.row_vecs, norms, [&](int i) { return place.in_row(i); },
        [&](int i) { return has[i]; });
  }

 private:
  __device__ static typename Reduce::Storage& storage() {
    __shared__ typename Reduce::Storage storage;
    return storage;
  }

  template <typename Place>
  __device__ void load_gamma(const Place& place, int row) {
    clear_row(gamma_);
    place.each(row, [&](int i, int) {
      gamma_[i] = device::load_l1<N>(arguments_.gamma + place.in_row(i) * N).bits();
    });
  }

  __device__ static void store(T* to, int at, Piece<T> piece) {
    if (to != nullptr) device::store_l2(to + int64_t{at} * N, piece);
  }

  // Makes a sum the residual, rounded; returns the sum of its squares.
  __device__ float add_residual(int i, uint4& sum) const {
    float x[N], added[N];
    device::to_float(piece_of<T>(sum), x);
    device::to_float(piece_of<T>(residual_[i]), added);
#pragma unroll
    for (int j = 0; j < N; ++j) x[j] += added[j];
    Piece<T> residual = device::from_float<T>(x);
    device::to_float(residual, x);
    float squares = 0.0f;
#pragma unroll
    for (int j = 0; j < N; ++j) squares = fmaf(x[j], x[j], squares);
    device::keep_packed(residual);
    sum = residual.bits();
    return squares;
  }

  __device__ Piece<T> normalized(int i, uint4 residual, float factor) const {
    float x[N], gamma[N];
    device::to_float(piece_of<T>(residual), x);
    device::to_float(piece_of<T>(gamma_[i]), gamma);
#pragma unroll
    for (int j = 0; j < N; ++j) x[j] = x[j] * factor * (gamma[j] + arguments_.weight_bias);
    return device::from_float<T>(x);
  }

  const Arguments& arguments_;
  const RowsShape& shape_;
  Reduce reduce_;
  uint4 residual_[kVecs];
  uint4 gamma_[kVecs];
};

// Warps of a row, and the blocks that they are spread over: by sizes alone.
struct NormTiling {
  static constexpr int kMostWarps = 32;
  static constexpr int kWide = 2;
  static constexpr int kOfManyRows = 4;  // vectors a thread, of rows that have a block each
  static constexpr int kWarpsOfManyRows = 8;

  int vecs_each;
  int warps;
  int blocks;

  // `rows` that are under way at once on a GPU with room for `most` blocks.
  NormTiling(int row_vecs, int rows, int most, int most_warps, bool has_clusters) {
    constexpr int kLeastWarps = 2;
    vecs_each =
        row_vecs <= (has_clusters ? kMostWarps : most_warps) * device::kWarpSize ? 1 : kWide;
    const int all = static_cast<int>(device::ceil_div(row_vecs, vecs_each * device::kWarpSize));
    blocks = 1;
    const auto fits_more = [&] {
      return all >= 2 * blocks * kLeastWarps && rows * blocks * 2 <= most * 3 / 4;
    };
    while (has_clusters && blocks < device::kMostBlocksOfCluster &&
           (all > most_warps * blocks || fits_more())) {
      blocks *= 2;
    }
    warps = static_cast<int>(device::ceil_div(all, blocks));
  }

  bool fits(int most_warps) const { return warps <= most_warps && warps * blocks <= kMostWarps; }

  // Gives each row a block of few threads, if there are more rows than fit at once, and no row is
  // too long.
  bool take_many(int row_vecs, int rows, int most) {
    constexpr int kVecsOfWarp = kOfManyRows * device::kWarpSize;
    if (rows <= most / blocks || row_vecs > kWarpsOfManyRows * kVecsOfWarp) return false;
    vecs_each = kOfManyRows;
    warps = static_cast<int>(device::ceil_div(row_vecs, kVecsOfWarp));
    blocks = 1;
    return true;
  }
};

// The longest rows: with clusters 32 warps of a thread's most vectors, else those of one block.
template <typename T>
int64_t most_hidden() {
  using Narrow = NormJob<T, 1>;
  const int threads = device::has_pdl<OneShotKernel<Narrow>>()
                          ? NormTiling::kMostWarps * device::kWarpSize
                          : Narrow::kThreads;
  return int64_t{threads} * NormTiling::kWide * Narrow::N;
}

// Sums rows of `hidden` elements, a multiple of a vector, all pointers aligned to 16 bytes. `pdl`:
// use programmatic dependent launch where the GPU supports it. cudaErrorInvalidValue: the buffers
// are too small, or rows are too long.
template <typename T>
cudaError_t AllReduceNorm(const NormArguments<T>& arguments, const Peers& peers,
                          const ChannelSizes& sizes, const Exchange& exchange,
                          cudaStream_t stream = nullptr, bool pdl = false,
                          bool triggers_early = true) {
  using Narrow = NormJob<T, 1>;
  using Wide = NormJob<T, NormTiling::kWide>;
  constexpr int kMostWarps = Narrow::kThreads / device::kWarpSize;
  const int64_t vecs = arguments.contribution.rows * arguments.contribution.hidden / Narrow::N;
  if (vecs == 0) return cudaSuccess;
  if (vecs > kMostVecs) return cudaErrorInvalidValue;
  const int rows = static_cast<int>(arguments.contribution.rows);
  const int row_vecs = arguments.contribution.hidden / Narrow::N;
  const RowsShape shape{rows, row_vecs, static_cast<int>(vecs)};
  const int at_once =
      exchange.two_shot ? static_cast<int>(device::ceil_div(rows, peers.size)) : rows;
  const int most = resident_blocks(peers, Narrow::kBlocksOfSm);
  NormTiling tiling(row_vecs, at_once, most, kMostWarps, device::has_pdl<OneShotKernel<Narrow>>());
  if (!tiling.fits(kMostWarps)) return cudaErrorInvalidConfiguration;
  const bool fits = takes_one_step<Narrow>(peers, exchange, rows * tiling.blocks);
  const bool many = !(tiling.vecs_each == 1 && fits) && tiling.take_many(row_vecs, at_once, most);
  device::LaunchConfig config;
  config.block = dim3(tiling.warps * device::kWarpSize);
  config.cluster = dim3(tiling.blocks);
  config.stream = stream;
  config.pdl = pdl;
  using Many = NormJob<T, NormTiling::kOfManyRows, true>;
  // Why: ranks may share a GPU, and call with one size while kernels for another one wait.
  cudaError_t status =
      device::load_kernels<OneShotKernel<Narrow>, OneShotKernel<Wide>, OneShotKernel<Many>,
                           TwoShotKernel<Narrow>, TwoShotKernel<Wide>, TwoShotKernel<Many>>();
  if (status == cudaSuccess) status = load_one_step<Narrow>(peers.size);
  if (status == cudaSuccess) status = load_one_step<Wide>(peers.size);
  if (status == cudaSuccess) status = load_one_step<Many>(peers.size);
  if (status != cudaSuccess) return status;
  if (many) {
    return LaunchAllReduce<Many, Many>(config, arguments, peers, sizes, shape, exchange,
                                       triggers_early);
  }
  if (tiling.vecs_each == 1) {
    return LaunchAllReduce<Narrow, Narrow>(config, arguments, peers, sizes, shape, exchange,
                                           triggers_early);
  }
  return LaunchAllReduce<Wide, Wide>(config, arguments, peers, sizes, shape, exchange,
                                     triggers_early);
}

}  // namespace fictl::comm
