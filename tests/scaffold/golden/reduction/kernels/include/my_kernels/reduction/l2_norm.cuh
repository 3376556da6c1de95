// l2_norm: out = sqrt(sum(x * x)) of every row, computed in fp32 and rounded once.
//
// Algorithm: a row is cut into pieces of 16 KiB, counted from its start. The threads of a piece
// combine what they have loaded, in an order that depends only on the length of the row. A row of
// one piece is then done; of a longer one the pieces leave their results in a workspace, and a
// second kernel combines these. There are no atomics: a row gives the same, bit by bit, whatever is
// batched with it and however often it is asked.
//
// Traffic: a row is read once. The results of pieces are 4 bytes for each 16 KiB. The limit is the
// bandwidth of the memory.
//
// Tiling, by the vectors of 16 bytes in a row (512 for 4096 values of bf16):
//   up to 32     A vector a thread. Several rows share a warp, the next power of two of lanes each:
//                a block a row would leave most lanes of a short row without work. No shared
//                memory, no barrier.
//   up to 1024   Four vectors a thread and a block a row, all loads before the first use.
//                Small blocks, as a barrier holds up a whole one: while it waits, others load.
//   more         A block a piece: a few long rows fill the GPU as many short ones do.
//
// Where a pointer, a pitch or the length of a row is not aligned to 16 bytes, a vector is one
// element, and the threads of a piece walk it in several steps.
#pragma once

#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/device/wide.cuh>

namespace my_kernels::reduction {

namespace device = fictl::device;

constexpr int kL2NormVecs = 4;  // a thread
constexpr int kL2NormThreads = 256;
constexpr int kL2NormPieceBytes = kL2NormThreads * kL2NormVecs * device::kVecBytes;
constexpr int kL2NormStages = 1;  // results of a piece
// The stage of a kernel: all of a row, in one piece; the first of its passes over pieces, and so
// on; and after the last of these the combination of their results.
constexpr int kL2NormWhole = -1;
constexpr int kL2NormPasses = 1;

inline int64_t L2NormPieces(int64_t row_bytes) {
  return row_bytes == 0 ? 1 : device::ceil_div(row_bytes, kL2NormPieceBytes);
}

// The arguments of a launch. Row strides (pitches) in elements.
template <typename T>
struct L2NormArgs {
  T* out;
  const T* x;
  int64_t rows;
  int64_t cols;
  int64_t x_pitch;
  // How many a row has, and what they leave, by row, stage and piece.
  unsigned pieces;
  float* results;
};

// The part that a thread has of a row, or of a piece of one, shared by blockDim.x threads: every
// blockDim.x-th vector, kVecs of them at a time. If kHeld, these are all and are loaded once; else
// every walk over it loads them again. Pointers and lengths are multiples of N.
template <typename T, int N, int kVecs, bool kHeld, int kPass>
class L2NormRow {
 public:
  using Args = L2NormArgs<T>;
  using Storage = typename device::BlockReduce<float>::Storage;

  __device__ L2NormRow(const Args& args, Storage& storage) : args_(args), over_block_(storage) {
    if constexpr (kInPieces) {
      row_ = blockIdx.x / args.pieces;
      piece_ = blockIdx.x % args.pieces;
    } else {
      row_ = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
      piece_ = 0;
    }
    constexpr int64_t kPiece = kL2NormPieceBytes / sizeof(T);
    const int64_t start = piece_ * kPiece;
    const int64_t left = args.cols - start;
    // Why not nothing at all beyond the last row: the other rows' lanes need these to reduce.
    size_ = row_ >= args.rows ? 0 : left < kPiece ? left : kPiece;
    x_ = args.x + row_ * args.x_pitch + start;
  }

  // Loads what is held, or the part of the row from `start` on.
  __device__ void load(int64_t start = 0) {
    each(start, [&](int i, int64_t at) { x_vec_[i] = device::load_l2<N>(x_ + at); });
  }

  template <typename Value>
  __device__ float sum(Value value) {
    return reduce(device::Sum(), value);
  }

  __device__ void store(float value) {
    if constexpr (kInPieces) return;
    if (threadIdx.x == 0 && row_ < args_.rows) args_.out[row_] = device::narrow<T>(value);
  }

 private:
  using Vec = device::Vec<T, N>;
  static constexpr bool kInPieces = kPass != kL2NormWhole && kPass != kL2NormPasses;

  template <typename Op, typename Value>
  __device__ float reduce(Op op, Value value) {
    if constexpr (kPass == kL2NormWhole) return share(op, combine(op, value));
    float* results = args_.results + (row_ * kL2NormStages + stage_++) * args_.pieces;
    if constexpr (kPass == kL2NormPasses) return share(op, gather(op, results));
    const float result = share(op, combine(op, value));
    if (threadIdx.x == 0) results[piece_] = result;
    return result;
  }

  // The results of pieces that this thread combines.
  template <typename Op>
  __device__ float gather(Op op, const float* results) {
    float result = Op::kNone;
    if (row_ >= args_.rows) return result;
    for (unsigned i = threadIdx.x; i < args_.pieces; i += blockDim.x) {
      result = op(result, __ldcg(results + i));
    }
    return result;
  }

  // Combines the values of this thread, in their order in the row.
  template <typename Op, typename Value>
  __device__ float combine(Op op, Value value) {
    float result = Op::kNone;
    walk([&](int i, int64_t) {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        const float x = device::widen(x_vec_[i][j]);
        result = op(result, value(x));
      }
    });
    return result;
  }

  // Combines the results of the row's threads.
  template <typename Op>
  __device__ float share(Op op, float mine) {
    return blockDim.x <= device::kWarpSize ? device::warp_reduce(op, mine, blockDim.x)
                                           : over_block_(op, mine);
  }

  // Calls body(i, where it starts) for each vector of this thread, `start` elements into the row.
  template <typename Body>
  __device__ void each(int64_t start, Body body) {
    const int64_t left = size_ - start;
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int at = (i * blockDim.x + threadIdx.x) * N;
      if (at < left) body(i, start + at);
    }
  }

  // The same for the whole row, with the vectors at hand.
  template <typename Body>
  __device__ void walk(Body body) {
    const auto visit = [&](int i, int64_t at) {
      keep_packed(x_vec_[i]);
      body(i, at);
    };
    if constexpr (kHeld) {
      each(0, visit);
    } else {
      for (int64_t start = 0; start < size_; start += blockDim.x * N * kVecs) {
        load(start);
        each(start, visit);
      }
    }
  }

  // Why: without it the compiler holds 16-bit values as fp32 while the row waits for the others,
  // which takes twice the registers and spills.
  __device__ static void keep_packed(Vec& vec) {
    if constexpr (sizeof(Vec) == device::kVecBytes) {
      uint4& words = vec.bits();
      asm volatile("" : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));
    }
  }

  const Args& args_;
  int64_t row_;
  unsigned piece_;
  int64_t size_;
  int stage_ = 0;
  const T* x_;
  Vec x_vec_[kVecs];
  device::BlockReduce<float> over_block_;
};

template <typename T, int N, int kVecs, bool kHeld, int kPass>
__global__ void __launch_bounds__(kL2NormThreads) L2NormKernel(L2NormArgs<T> args) {
  using Row = L2NormRow<T, N, kVecs, kHeld, kPass>;
  __shared__ typename Row::Storage storage;
  Row row(args, storage);

  device::pdl_wait();
  device::pdl_trigger();
  if constexpr (kHeld && kPass != kL2NormPasses) row.load();
  const float sum_square = row.sum([&](float x) { return x * x; });
  row.store(sqrt(sum_square));
}

// blockDim.y rows a block, of blockDim.x threads each, for so many things in a row.
inline void L2NormBlocks(device::LaunchConfig& config, int64_t rows, int64_t things, int each) {
  constexpr int kSharedThreads = 128;  // a block of rows that share warps
  if (things <= device::kWarpSize) {
    unsigned lanes = 1;
    while (lanes < things) lanes *= 2;
    config.block = dim3(lanes, kSharedThreads / lanes);
  } else {
    const int64_t warps = device::ceil_div(things, each * device::kWarpSize);
    constexpr int kMostWarps = kL2NormThreads / device::kWarpSize;
    config.block = dim3((warps < kMostWarps ? warps : kMostWarps) * device::kWarpSize);
  }
  config.grid = dim3(device::ceil_div(rows, config.block.y));
}

template <typename T, int N>
cudaError_t LaunchL2Norm(device::LaunchConfig config, const L2NormArgs<T>& args) {
  constexpr int kVecs = kL2NormVecs;
  constexpr bool kHeld = N > 1;
  const int64_t vecs = args.cols / N;
  if (args.pieces == 1) {
    L2NormBlocks(config, args.rows, vecs, kVecs);
    if (vecs <= device::kWarpSize) {
      return device::launch<L2NormKernel<T, N, 1, true, kL2NormWhole>>(config, args);
    }
    return device::launch<L2NormKernel<T, N, kVecs, kHeld, kL2NormWhole>>(config, args);
  }
  config.block = dim3(kL2NormThreads);
  config.grid = dim3(args.rows * args.pieces);
  cudaError_t status = device::launch<L2NormKernel<T, N, kVecs, kHeld, 0>>(config, args);
  if (status != cudaSuccess) return status;
  L2NormBlocks(config, args.rows, args.pieces, 1);
  return device::launch<L2NormKernel<T, 1, 1, true, kL2NormPasses>>(config, args);
}

// `results` has kL2NormStages * rows * L2NormPieces(bytes of a row) values where there
// are several pieces; `pieces` is set here. `pdl`: use programmatic dependent launch where the GPU
// supports it.
template <typename T>
cudaError_t L2Norm(L2NormArgs<T> args, cudaStream_t stream = nullptr, bool pdl = false) {
  if (args.rows == 0) return cudaSuccess;
  args.pieces = L2NormPieces(args.cols * sizeof(T));
  constexpr int N = device::kVecBytes / sizeof(T);
  bool aligned = args.cols % N == 0;
  aligned &= device::vec_aligned(args.x) && args.x_pitch % N == 0;

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  return aligned ? LaunchL2Norm<T, N>(config, args) : LaunchL2Norm<T, 1>(config, args);
}

}  // namespace my_kernels::reduction
