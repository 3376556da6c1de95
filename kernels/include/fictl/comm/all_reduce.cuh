// all_reduce: the sum over the ranks of any number of adjacent elements, into the same memory or
// another. Algorithm and traffic: row_exchange.cuh.
//
// Tiling: rows are as many vectors as a block holds. Few bytes are spread over many small blocks,
// as what an SM sends is limited; many make blocks of 256 threads with up to three vectors each, of
// which an SM has two: while one waits for its data to arrive, the link has those of the other. Two
// hops with flags, which are for the largest inputs, have blocks of 384 threads. The
// fewest steps are taken that there can be, and rows are then as narrow as these steps allow: all
// blocks have the same to send, where the widest rows would leave a part of them idle.
#pragma once

#include <fictl/comm/row_exchange.cuh>
#include <fictl/device/reduce.cuh>

namespace fictl::comm {

// Vectors of a row that a thread has, where there are many: as registers admit.
constexpr int kWideOneShot = 3;
constexpr int kWideTwoShot = 2;

template <typename T>
struct FlatArguments {
  const T* input;
  T* output;
  int64_t elements;
  int whole;  // vectors that are loaded and stored as such: none where a pointer is not aligned
};

template <typename T, int kVecsOfThread, int kMostThreads = 256>
class FlatJob {
 public:
  using Element = T;
  using Arguments = FlatArguments<T>;
  static constexpr int kVecs = kVecsOfThread;
  static constexpr int kThreads = kMostThreads;
  static constexpr int kBlocksOfSm = 2;
  static constexpr bool kLoadsAhead = true;
  static constexpr bool kClusters = false;
  static constexpr int kBlocksOfOneStep = kBlocksOfSm;
  static constexpr int kMostRanksOfOneStep = 8;
  static constexpr int N = kPieceBytes / sizeof(T);

  __device__ FlatJob(const Arguments& arguments, const RowsShape&) : arguments_(arguments) {}

  __device__ void finish_call() const {}

  template <typename Place>
  __device__ void expect(const Place&, int) const {}

  // Zeros beyond the end.
  __device__ uint4 load(int, int at) const {
    if (at < arguments_.whole) return device::load_l2<N>(arguments_.input + int64_t{at} * N).bits();
    Piece<T> piece;
    piece.bits() = make_uint4(0, 0, 0, 0);
    for_some(at, [&](int i, int64_t element) { piece[i] = arguments_.input[element]; });
    return piece.bits();
  }

  template <typename Place>
  __device__ void finish(const Place& place, int row, const uint4 (&sums)[kVecs]) const {
    place.each(row, [&](int i, int at) {
      const Piece<T> sum = piece_of<T>(sums[i]);
      if (at < arguments_.whole) {
        device::store_l2(arguments_.output + int64_t{at} * N, sum);
      } else {
        for_some(at, [&](int j, int64_t element) { arguments_.output[element] = sum.data[j]; });
      }
    });
  }

 private:
  // Calls body(i, element) for the elements that a vector has.
  template <typename Body>
  __device__ void for_some(int at, Body body) const {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const int64_t element = int64_t{at} * N + i;
      if (element < arguments_.elements) body(i, element);
    }
  }

  const Arguments& arguments_;
};

// Rows for a number of vectors, the threads of a block, and how many of a row's each has at most.
struct FlatTiling {
  RowsShape shape;
  unsigned threads;
  int vecs_each;

  // `at_once`: rows of one step of all blocks. A thread has up to `most_each` vectors of a row.
  FlatTiling(int64_t vecs, int64_t at_once, int most_each, int64_t most_threads = 256) {
    constexpr int64_t kLeast = 64;
    const int64_t steps = device::ceil_div(vecs, at_once * most_threads * most_each);
    const int64_t row_vecs = device::ceil_div(vecs, at_once * steps);
    vecs_each = static_cast<int>(device::ceil_div(row_vecs, most_threads));
    const int64_t warps = device::ceil_div(row_vecs, int64_t{vecs_each} * device::kWarpSize);
    const int64_t fitting = warps * device::kWarpSize;
    threads = static_cast<unsigned>(fitting < kLeast ? kLeast : fitting);
    shape.row_vecs = static_cast<int>(threads) * vecs_each;
    shape.rows = static_cast<int>(device::ceil_div(vecs, shape.row_vecs));
    shape.vecs = static_cast<int>(vecs);
  }
};

// Sums `elements` of all ranks into `output`, which may be `input`. `pdl`: use programmatic
// dependent launch where the GPU supports it.
template <typename T>
cudaError_t AllReduce(const T* input, T* output, int64_t elements, const Peers& peers,
                      const ChannelSizes& sizes, const Exchange& exchange,
                      cudaStream_t stream = nullptr, bool pdl = false) {
  if (elements == 0) return cudaSuccess;
  using Narrow = FlatJob<T, 1>;
  const int64_t vecs = device::ceil_div(elements, Narrow::N);
  if (vecs > kMostVecs) return cudaErrorInvalidValue;
  const bool aligned = device::vec_aligned(input) && device::vec_aligned(output);
  const FlatArguments<T> arguments{input, output, elements,
                                   aligned ? static_cast<int>(elements / Narrow::N) : 0};
  const int64_t at_once =
      resident_blocks(peers, Narrow::kBlocksOfSm) * (exchange.two_shot ? peers.size : 1);
  using Large = FlatJob<T, kWideTwoShot, 384>;
  const bool large = exchange.two_shot && exchange.protocol == Protocol::kFlags;
  const FlatTiling tiling(vecs, at_once, exchange.two_shot ? kWideTwoShot : kWideOneShot,
                          large ? Large::kThreads : Narrow::kThreads);
  const RowsShape& shape = tiling.shape;
  device::LaunchConfig config;
  config.block = dim3(tiling.threads);
  config.stream = stream;
  config.pdl = pdl;
  using Pair = FlatJob<T, 2>;
  using Wide = FlatJob<T, kWideOneShot>;
  static_assert(kWideTwoShot == 2, "two-shot kernels have no wider rows than pairs");
  // Why: ranks may share a GPU, and call with one size while kernels for another one wait.
  cudaError_t status =
      device::load_kernels<OneShotKernel<Narrow>, OneShotKernel<Pair>, OneShotKernel<Wide>,
                           TwoShotKernel<Narrow>, TwoShotKernel<Pair>, TwoShotKernel<Large>>();
  if (status == cudaSuccess) status = load_one_step<Narrow>(peers.size);
  if (status == cudaSuccess) status = load_one_step<Pair>(peers.size);
  if (status == cudaSuccess) status = load_one_step<Wide>(peers.size);
  if (status != cudaSuccess) return status;
  if (large) {
    return LaunchAllReduce<Pair, Large>(config, arguments, peers, sizes, shape, exchange, true);
  }
  if (tiling.vecs_each == 1) {
    return LaunchAllReduce<Narrow, Narrow>(config, arguments, peers, sizes, shape, exchange, true);
  }
  if (tiling.vecs_each == 2) {
    return LaunchAllReduce<Pair, Pair>(config, arguments, peers, sizes, shape, exchange, true);
  }
  return LaunchAllReduce<Wide, Pair>(config, arguments, peers, sizes, shape, exchange, true);
}

}  // namespace fictl::comm
