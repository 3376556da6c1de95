// linear: out = a b^T: products of 16-bit values on tensor cores (mma.sync), summed in fp32 and
// rounded once.
//
// Algorithm: a block makes one tile of out. While its warps multiply one stage of a and b, some
// columns of k, copies bring the next ones to shared memory (cp.async). A warp loads the operands
// of its next products (ldmatrix) before it starts the current ones, from one stage to the next
// too: the tensor cores wait neither for memory nor for the barrier between two stages.
//
// Traffic: a row of a is read by every tile beside it, a row of b by every tile below it. Blocks
// that run together are a patch of 16 rows of tiles, so that L2 serves most of it. A tile of 128 x
// 256 takes 85 operations for a byte from L2, one of 128 x 128 only 64.
//
// Tiling: the largest tile of which there is one for every SM and half of whose rows exist.
//   128 x 256   8 warps of 64 x 64, which is 128 registers of sums a thread. Three stages are 144
//               KiB of shared memory: not on every GPU.
//   128 x 128   4 such warps, and two blocks share an SM.
//   64 x 64     up to 64 rows, or where there are few tiles: many small blocks.
//   16 x 32     up to 16 rows, as in a decode step. The time is that of reading b: 72 KiB are on
//               their way to each SM. The four warps share k, a quarter of every stage each, and
//               their sums are added up at the end.
// In shared memory the chunks of 16 bytes of a row change places (swizzled), so that neither copies
// nor ldmatrix meet a bank conflict.
//
// Edges: what lies beyond m, n and k is zero in shared memory and nowhere else. The rows of a and b
// are aligned to 16 bytes, those of out need not be.
#pragma once

#include <fictl/device/copy.cuh>
#include <fictl/device/element.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/ldmatrix.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/mma.cuh>
#include <fictl/device/swizzle.cuh>
#include <fictl/device/vec.cuh>

namespace my_kernels::gemm::linear_kernel {

namespace device = fictl::device;

// A matrix with contiguous rows; the row stride (pitch) is in elements.
template <typename T>
struct Matrix {
  T* data;
  int64_t rows;
  int64_t cols;
  int64_t pitch;
};

// The work of a block: a tile of kM x kN, kK columns of a and b a stage. Its warps divide the tile
// among kWarpsM x kWarpsN, and each stage among kWarpsK.
template <int kM_, int kN_, int kK_, int kStages_, int kWarpsM_, int kWarpsN_, int kWarpsK_>
struct TileShape {
  static constexpr int kM = kM_;
  static constexpr int kN = kN_;
  static constexpr int kK = kK_;
  static constexpr int kStages = kStages_;
  static constexpr int kWarpsM = kWarpsM_;
  static constexpr int kWarpsN = kWarpsN_;
  static constexpr int kWarpsK = kWarpsK_;

  static constexpr int kThreads = kWarpsM * kWarpsN * kWarpsK * 32;
  static constexpr int kWarpM = kM / kWarpsM;
  static constexpr int kWarpN = kN / kWarpsN;
  static constexpr int kSteps = kK / kWarpsK / device::kMmaK;  // a warp's, of a stage
  static constexpr int kValues = device::kChunkBytes / 2;      // of a chunk
  static constexpr int kChunks = kK / kValues;                 // of a row of a stage

  // A stage is the rows of a, then those of b.
  static constexpr int kStageChunks = (kM + kN) * kChunks;
  // The sums of each kWarpsK; the padding keeps the rows that a warp writes apart in the banks.
  static constexpr int kSumPitch = kN + 8;
  static constexpr int kSums = kM * kSumPitch;

  static constexpr size_t kStagesBytes = kStages * kStageChunks * device::kChunkBytes;
  static constexpr size_t kSumsBytes = kWarpsK * kSums * sizeof(float);
  static constexpr size_t kSharedBytes = kStagesBytes > kSumsBytes ? kStagesBytes : kSumsBytes;
};

using Large = TileShape<128, 256, 64, 3, 2, 4, 1>;
using Medium = TileShape<128, 128, 64, 3, 2, 2, 1>;
using Small = TileShape<64, 64, 128, 3, 2, 2, 1>;
using Decode = TileShape<16, 32, 256, 4, 1, 1, 4>;

// Converts a sum to an element of out: the place for a bias, an activation, a residual.
__device__ inline float epilogue(float sum, int64_t row, int64_t col) { return sum; }

// The position of a block's tile: patches of 16 rows of tiles, column after column.
struct Place {
  int64_t row;
  int64_t col;

  template <typename Tile>
  __device__ static Place of(Tile, int64_t rows, int64_t cols) {
    constexpr int kPatch = 16;
    const int tiles_m = device::ceil_div(rows, Tile::kM);
    const int patch = kPatch * device::ceil_div(cols, Tile::kN);
    const int first = blockIdx.x / patch * kPatch;
    const int height = min(tiles_m - first, kPatch);
    const int within = blockIdx.x % patch;
    return {static_cast<int64_t>(first + within % height) * Tile::kM,
            static_cast<int64_t>(within / height) * Tile::kN};
  }
};

// Copies kRows rows of an operand to shared memory, stage after stage, each in kSteps parts. A
// thread takes one chunk of every kRowsATime-th row.
template <typename T, typename Tile, int kRows>
class Copy {
 public:
  __device__ Copy(const Matrix<const T>& from, int64_t first_row)
      : row_(threadIdx.x / Tile::kChunks),
        chunk_(threadIdx.x % Tile::kChunks),
        rows_(static_cast<int>(min(from.rows - first_row, int64_t{kRows})) - row_),
        pitch_(from.pitch),
        cols_(from.cols - chunk_ * Tile::kValues),
        from_(from.data + (first_row + row_) * pitch_ + chunk_ * Tile::kValues) {}

  __device__ void start(uint4* to, int part) {
    const int cols = static_cast<int>(min(max(cols_, int64_t{0}), int64_t{Tile::kValues}));
    const int bytes = cols * static_cast<int>(sizeof(T));
#pragma unroll
    for (int i = 0; i < kRowsAPart; i += kRowsATime) {
      const int row = part * kRowsAPart + i;
      device::copy_async(to + device::swizzled<Tile::kChunks>(row_ + row, chunk_),
                         from_ + row * pitch_, row < rows_ ? bytes : 0);
    }
    if (part == Tile::kSteps - 1) {
      from_ += Tile::kK;
      cols_ -= Tile::kK;
    }
  }

 private:
  static constexpr int kRowsATime = Tile::kThreads / Tile::kChunks;
  static constexpr int kRowsAPart = kRows / Tile::kSteps;
  static_assert(kRowsAPart % kRowsATime == 0, "every thread copies equally much in every step");

  int row_;
  int chunk_;
  int rows_;  // from row_ on
  int64_t pitch_;
  int64_t cols_;  // from from_ on
  const T* from_;
};

// A lane of a warp: which part of the tile, and of each stage, is the warp's.
template <typename Tile>
struct Lane {
  int lane = threadIdx.x % 32;
  int warp = threadIdx.x / 32;
  int row = warp % Tile::kWarpsM * Tile::kWarpM;
  int col = warp / Tile::kWarpsM % Tile::kWarpsN * Tile::kWarpN;
  int share = warp / Tile::kWarpsM / Tile::kWarpsN;  // of k
};

// The registers of a lane for 16 of k: the operands of its warp's products.
template <typename Tile>
struct Operands {
  uint32_t a[Tile::kWarpM / 16][4];
  uint32_t b[Tile::kWarpN / 16][4];

  __device__ void load(const uint4* stage, const Lane<Tile>& at, int step) {
    const int chunk = (at.share * Tile::kSteps + step) * 2;
#pragma unroll
    for (int i = 0; i < Tile::kWarpM / 16; ++i) {
      load(a[i], stage, at.row + i * 16 + device::MmaA::row(at.lane),
           chunk + device::MmaA::chunk(at.lane));
    }
#pragma unroll
    for (int i = 0; i < Tile::kWarpN / 16; ++i) {
      load(b[i], stage, Tile::kM + at.col + i * 16 + device::MmaB::row(at.lane),
           chunk + device::MmaB::chunk(at.lane));
    }
  }

 private:
  __device__ static void load(uint32_t (&to)[4], const uint4* stage, int row, int chunk) {
    device::ldmatrix_x4(to, stage + device::swizzled<Tile::kChunks>(row, chunk));
  }
};

// The sums that a lane has of its warp's part of the tile.
template <typename Tile>
class Sums {
 public:
  template <typename T>
  __device__ void add(const Operands<Tile>& of) {
#pragma unroll
    for (int i = 0; i < Tile::kWarpM / 16; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kWarpN / 8; ++j) {
        const uint32_t* b = of.b[j / 2] + j % 2 * 2;
        device::mma_m16n8k16<T>(sums_[i][j], of.a[i], b[0], b[1]);
      }
    }
  }

  __device__ void store(float* to, const Lane<Tile>& at) const {
    to += at.share * Tile::kSums + (at.row + at.lane / 4) * Tile::kSumPitch;
    to += at.col + at.lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < Tile::kWarpM / 8; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kWarpN / 8; ++j) {
        const float* sums = sums_[i / 2][j] + i % 2 * 2;
        *reinterpret_cast<float2*>(to + i * 8 * Tile::kSumPitch + j * 8) = {sums[0], sums[1]};
      }
    }
  }

 private:
  float sums_[Tile::kWarpM / 16][Tile::kWarpN / 8][4] = {};
};

// Writes the tile from shared memory: eight adjacent elements a thread, 16 bytes if out is aligned.
template <typename T, typename Tile>
__device__ void store_tile(const float* sums, const Matrix<T>& out, Place place, bool aligned) {
  constexpr int N = Tile::kValues;
  constexpr int kVecs = Tile::kN / N;
  for (int i = threadIdx.x; i < Tile::kM * kVecs; i += Tile::kThreads) {
    const float* from = sums + i / kVecs * Tile::kSumPitch + i % kVecs * N;
    const int64_t row = place.row + i / kVecs;
    const int64_t col = place.col + i % kVecs * N;
    if (row >= out.rows || col >= out.cols) continue;
    device::Vec<T, N> vec;
#pragma unroll
    for (int j = 0; j < N; ++j) {
      float sum = from[j];
#pragma unroll
      for (int share = 1; share < Tile::kWarpsK; ++share) sum += from[share * Tile::kSums + j];
      vec[j] = device::Element<T>::from_float(epilogue(sum, row, col + j));
    }
    T* to = out.data + row * out.pitch + col;
    if (aligned && col + N <= out.cols) {
      device::store_l2(to, vec);
    } else {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        if (col + j < out.cols) to[j] = vec[j];
      }
    }
  }
}

template <typename T, typename Tile>
__global__ void __launch_bounds__(Tile::kThreads)
    GemmKernel(Matrix<const T> a, Matrix<const T> b, Matrix<T> out, bool aligned) {
  extern __shared__ uint4 shared[];
  const Place place = Place::of(Tile(), a.rows, b.rows);
  Copy<T, Tile, Tile::kM> copy_a(a, place.row);
  Copy<T, Tile, Tile::kN> copy_b(b, place.col);
  // Without any k there still is one stage, of zeros.
  const int steps = max(static_cast<int>(device::ceil_div(a.cols, Tile::kK)), 1);

  const auto stage = [&](int step) { return shared + step % Tile::kStages * Tile::kStageChunks; };
  const auto start_copy = [&](int step, int part) {
    if (step < steps) {
      copy_a.start(stage(step), part);
      copy_b.start(stage(step) + Tile::kM * Tile::kChunks, part);
    }
    if (part == Tile::kSteps - 1) device::copy_commit();
  };
  // Waits until the next stage is there, and all have read the last operands of the previous one.
  const auto next_stage = [] {
    device::copy_wait<Tile::kStages - 2>();
    __syncthreads();
  };

  device::pdl_wait();
  device::pdl_trigger();
  for (int step = 0; step < Tile::kStages - 1; ++step) {
#pragma unroll
    for (int part = 0; part < Tile::kSteps; ++part) start_copy(step, part);
  }

  const Lane<Tile> at;
  Sums<Tile> sums;
  Operands<Tile> operands[2];
  next_stage();
  operands[0].load(stage(0), at, 0);
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < Tile::kSteps; ++i) {
      start_copy(step + Tile::kStages - 1, i);
      Operands<Tile>& next = operands[(i + 1) % 2];
      if (i + 1 < Tile::kSteps) {
        next.load(stage(step), at, i + 1);
      } else {
        next_stage();
        if (step + 1 < steps) next.load(stage(step + 1), at, 0);
      }
      sums.template add<T>(operands[i % 2]);
    }
  }

  // All have read the last stage: its barrier is behind them.
  float* staged = reinterpret_cast<float*>(shared);
  sums.store(staged, at);
  __syncthreads();
  store_tile<T, Tile>(staged, out, place, aligned);
}

template <typename T, typename Tile>
cudaError_t LaunchGemm(device::LaunchConfig config, const Matrix<const T>& a,
                       const Matrix<const T>& b, const Matrix<T>& out) {
  const int64_t tiles = device::ceil_div(a.rows, Tile::kM) * device::ceil_div(b.rows, Tile::kN);
  config.grid = dim3(tiles);
  config.block = dim3(Tile::kThreads);
  config.shared_bytes = Tile::kSharedBytes;
  const bool aligned = device::vec_aligned(out.data) && out.pitch % Tile::kValues == 0;
  return device::launch<GemmKernel<T, Tile>>(config, a, b, out, aligned);
}

// True if there is such a tile for each of `sm_count`, and rows for more than half of it.
template <typename Tile>
bool fills(int64_t rows, int64_t cols, int sm_count) {
  return rows > Tile::kM / 2 &&
         device::ceil_div(rows, Tile::kM) * device::ceil_div(cols, Tile::kN) >= sm_count;
}

template <typename Tile>
bool fits(int device) {
  int bytes = 0;
  return cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ==
             cudaSuccess &&
         Tile::kSharedBytes <= static_cast<size_t>(bytes);
}

// a: [m][k], b: [n][k], out: [m][n], on `device` with `sm_count` multiprocessors. `pdl`: use
// programmatic dependent launch where the GPU supports it.
template <typename T>
cudaError_t Gemm(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& out,
                 int device, int sm_count, cudaStream_t stream = nullptr, bool pdl = false) {
  if (out.rows == 0 || out.cols == 0) return cudaSuccess;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  if (out.rows <= Decode::kM) {
    return LaunchGemm<T, Decode>(config, a, b, out);
  }
  if (fills<Large>(out.rows, out.cols, sm_count) && fits<Large>(device)) {
    return LaunchGemm<T, Large>(config, a, b, out);
  }
  if (fills<Medium>(out.rows, out.cols, sm_count)) {
    return LaunchGemm<T, Medium>(config, a, b, out);
  }
  return LaunchGemm<T, Small>(config, a, b, out);
}

}  // namespace my_kernels::gemm::linear_kernel
