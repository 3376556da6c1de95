// prefix_sum: the prefix sums of every row: the sum of all elements up to each, with it (inclusive)
// or without (exclusive), in fp32 and rounded once.
//
// Algorithm: a row is cut into pieces of 32 KiB, and these into tiles. In a tile, a thread adds up
// each of its vectors, a warp scans these sums by shuffles, and one barrier tells all warps what
// the others have. From tile to tile of a piece, and from piece to piece, the sum is carried on.
// Where there are rows for all SMs, a block has a row and reads it once. A few long rows are spread
// over the GPU: one kernel leaves the sum of each piece in a workspace, a second one adds up those
// before its piece and scans it. Both ways add in the same order, which depends only on the length
// of the row: it gives the same, bit by bit, whatever is batched with it. There are no atomics.
//
// Traffic: a row is read once and written once; in pieces it is read twice, the second time mostly
// from L2. The limit is the bandwidth of the memory.
//
// Tiling: a warp has four vectors of 16 bytes a lane in flight, 2 KiB of adjacent memory, and a
// block up to eight warps. Rows of up to 2 KiB have a warp each, and need no barrier.
//
// Where a pointer, a pitch or the length of a row is not aligned to 16 bytes, a vector is one
// element.
#pragma once

#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/device/wide.cuh>

namespace my_kernels::scan {

namespace device = fictl::device;

constexpr int kPrefixSumThreads = 256;  // of a row, at most
constexpr int kPrefixSumShortRows = 4;  // a block of rows that have a warp each
constexpr int kPrefixSumVecs = 4;       // a thread
constexpr int kPrefixSumPieceBytes = 2 * kPrefixSumThreads * kPrefixSumVecs * device::kVecBytes;

inline int64_t PrefixSumPieces(int64_t row_bytes) {
  return device::ceil_div(row_bytes, kPrefixSumPieceBytes);
}

// The type of sums.
template <typename T>
using PrefixSumSum = device::Wide<T>;

// The arguments of a launch. Row strides (pitches) in elements.
template <typename T>
struct PrefixSumArgs {
  T* out;
  const T* x;
  int64_t rows;
  int64_t cols;
  int64_t out_pitch;
  int64_t x_pitch;
  bool exclusive;
  // How many pieces a row has, and their sums, by row and piece.
  unsigned pieces;
  PrefixSumSum<T>* results;
};

// The sums of a tile's warps; a tile has one half, the next one the other.
template <typename Sum>
struct PrefixSumTotals {
  Sum warps[2][kPrefixSumThreads / device::kWarpSize];
};

// Scans pieces of a row by blockDim.x threads, whole warps. Pointers and sizes are multiples of N.
template <typename T, int N>
class PrefixSumScan {
 public:
  using Sum = PrefixSumSum<T>;
  using Vec = device::Vec<T, N>;

  __device__ PrefixSumScan(PrefixSumTotals<Sum>& totals, bool exclusive)
      : totals_(totals), exclusive_(exclusive) {}

  // Writes the prefix sums of a piece, from `carry` on; without a `to` nothing. Returns the sum of
  // the piece.
  __device__ Sum piece(const T* from, T* to, int64_t size, Sum carry) {
    constexpr int kStep = device::kWarpSize * N;
    const int warp = threadIdx.x / device::kWarpSize;
    const int first = warp * kPrefixSumVecs * kStep + threadIdx.x % device::kWarpSize * N;
    Sum before = 0;
    for (int64_t start = 0; start < size; start += blockDim.x * kPrefixSumVecs * N) {
      const int64_t at = start + first;
      Vec vecs[kPrefixSumVecs];
#pragma unroll
      for (int i = 0; i < kPrefixSumVecs; ++i) {
        if (at + i * kStep < size) vecs[i] = device::load_l2<N>(from + at + i * kStep);
      }
      Sum offsets[kPrefixSumVecs];
      const Sum mine = scan_warp(vecs, offsets, size - at);
      Sum ahead;
      const Sum total = scan_block(mine, ahead);
      if (to != nullptr) {
#pragma unroll
        for (int i = 0; i < kPrefixSumVecs; ++i) {
          if (at + i * kStep >= size) continue;
          const Sum sum = before + ahead + offsets[i];
          device::store_l2(to + at + i * kStep, prefix_sums(vecs[i], carry, sum));
        }
      }
      before += total;
    }
    return before;
  }

 private:
  // The sum before each vector of this thread, within its warp. Returns the warp's. Why never by
  // subtracting a vector's own: that would make NaN of an infinity, before its place.
  __device__ Sum scan_warp(const Vec (&vecs)[kPrefixSumVecs], Sum (&offsets)[kPrefixSumVecs],
                           int64_t left) {
    Sum sum = 0;
#pragma unroll
    for (int i = 0; i < kPrefixSumVecs; ++i) {
      Sum own = 0;
      if (i * device::kWarpSize * N < left) {
#pragma unroll
        for (int j = 0; j < N; ++j) own += widen(vecs[i].data[j]);
      }
      const Sum until = device::warp_inclusive_sum(own);
      const Sum before = __shfl_up_sync(0xffffffff, until, 1);
      offsets[i] = threadIdx.x % device::kWarpSize == 0 ? sum : sum + before;
      sum += __shfl_sync(0xffffffff, until, device::kWarpSize - 1);
    }
    return sum;
  }

  // The sum of the warps before this one, in `ahead`, and of all. One barrier a tile: a half of the
  // totals is written again only after the barrier between.
  __device__ Sum scan_block(Sum mine, Sum& ahead) {
    ahead = 0;
    if (blockDim.x == device::kWarpSize) return mine;
    Sum* warps = totals_.warps[half_];
    half_ ^= 1;
    const int warp = threadIdx.x / device::kWarpSize;
    if (threadIdx.x % device::kWarpSize == 0) warps[warp] = mine;
    __syncthreads();
    Sum total = 0;
    for (int i = 0; i < blockDim.x / device::kWarpSize; ++i) {
      if (i == warp) ahead = total;
      total += warps[i];
    }
    return total;
  }

  __device__ Vec prefix_sums(const Vec& vec, Sum carry, Sum sum) const {
    Vec result;
#pragma unroll
    for (int j = 0; j < N; ++j) {
      const Sum without = sum;
      sum += widen(vec.data[j]);
      result[j] = narrow(carry + (exclusive_ ? without : sum));
    }
    return result;
  }

  __device__ static Sum widen(T value) { return device::widen(value); }
  __device__ static T narrow(Sum sum) { return device::narrow<T>(sum); }

  PrefixSumTotals<Sum>& totals_;
  bool exclusive_;
  int half_ = 0;
};

// The work of a kernel: all pieces of its rows, or one piece: its sum, or its prefix sums.
enum class PrefixSumStage { kRow, kSum, kPiece };

template <typename T, int N, PrefixSumStage kStage>
__global__ void __launch_bounds__(kPrefixSumThreads) PrefixSumKernel(PrefixSumArgs<T> args) {
  using Sum = PrefixSumSum<T>;
  constexpr int64_t kPiece = kPrefixSumPieceBytes / sizeof(T);
  constexpr bool kWhole = kStage == PrefixSumStage::kRow;
  __shared__ PrefixSumTotals<Sum> totals;
  const unsigned pieces = kWhole ? 1 : args.pieces;
  const int64_t row = static_cast<int64_t>(blockIdx.x / pieces) * blockDim.y + threadIdx.y;
  const int64_t first = blockIdx.x % pieces * kPiece;
  if (row >= args.rows) return;  // with its warp: rows that share a block have one each
  const T* x = args.x + row * args.x_pitch;
  T* out = args.out + row * args.out_pitch;
  PrefixSumScan<T, N> scan(totals, args.exclusive);

  device::pdl_wait();
  device::pdl_trigger();
  Sum carry = 0;
  if constexpr (kStage == PrefixSumStage::kPiece) {
    const Sum* results = args.results + row * pieces;
    for (unsigned i = 0; i < blockIdx.x % pieces; ++i) carry += __ldcg(results + i);
  }
  for (int64_t start = first; start < args.cols; start += kPiece) {
    const int64_t size = args.cols - start < kPiece ? args.cols - start : kPiece;
    T* to = kStage == PrefixSumStage::kSum ? nullptr : out + start;
    carry += scan.piece(x + start, to, size, carry);
    if (!kWhole) break;
  }
  if (kStage == PrefixSumStage::kSum && threadIdx.x == 0) args.results[blockIdx.x] = carry;
}

template <typename T, int N>
cudaError_t LaunchPrefixSum(device::LaunchConfig config, const PrefixSumArgs<T>& args,
                            bool in_pieces) {
  using Stage = PrefixSumStage;
  config.block = dim3(kPrefixSumThreads);
  if (in_pieces) {
    config.grid = dim3(args.rows * args.pieces);
    const cudaError_t status = device::launch<PrefixSumKernel<T, N, Stage::kSum>>(config, args);
    if (status != cudaSuccess) return status;
    return device::launch<PrefixSumKernel<T, N, Stage::kPiece>>(config, args);
  }
  const int64_t warps = device::ceil_div(args.cols, device::kWarpSize * kPrefixSumVecs * N);
  if (warps * device::kWarpSize < kPrefixSumThreads) config.block = dim3(warps * device::kWarpSize);
  if (warps == 1) config.block.y = kPrefixSumShortRows;
  config.grid = dim3(device::ceil_div(args.rows, config.block.y));
  return device::launch<PrefixSumKernel<T, N, Stage::kRow>>(config, args);
}

// `results` has rows * PrefixSumPieces(bytes of a row) sums, if a row has several pieces; `pieces`
// is set here. `out` may be `x`. `pdl`: use programmatic dependent launch where the GPU supports
// it.
template <typename T>
cudaError_t PrefixSum(PrefixSumArgs<T> args, int sm_count, cudaStream_t stream = nullptr,
                      bool pdl = false) {
  if (args.rows == 0 || args.cols == 0) return cudaSuccess;
  args.pieces = static_cast<unsigned>(PrefixSumPieces(args.cols * sizeof(T)));
  constexpr int N = device::kVecBytes / sizeof(T);
  bool aligned = args.cols % N == 0;
  aligned &= device::vec_aligned(args.x) && args.x_pitch % N == 0;
  aligned &= device::vec_aligned(args.out) && args.out_pitch % N == 0;
  // Why twice: with as many rows as blocks run at once, reading each once is faster.
  const bool in_pieces = args.pieces > 1 && args.rows < 2 * sm_count;

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  return aligned ? LaunchPrefixSum<T, N>(config, args, in_pieces)
                 : LaunchPrefixSum<T, 1>(config, args, in_pieces);
}

}  // namespace my_kernels::scan
