// dense by mma.sync, for GPUs from sm_80 on: D[i] = epilogue(A[i] B[i]^T), see problem.cuh.
//
// Algorithm: a block computes one tile of D, or its part of k where k is split. It walks along k in
// stages, which cp.async copies to shared memory up to three stages ahead of the products.
//
// Traffic: a tile of M x N reads (M + N) * k elements, mostly from L2: blocks that run at once are
// of 8 rows of tiles, which share their operands.
//
// Tiling: four warps. For 128 x 128 a warp has 64 x 64, so that 8 loads of ldmatrix serve 32
// products; for 64 x 64 it has 32 x 32. Tiles of 16 rows are for few tokens, where weights are read
// at the speed of memory and the tensor cores wait.
//
// Registers, a thread, of 128 x 128: 128 for the sums, 64 for two steps of operands, and addresses.
// Shared memory: 16 KiB a stage, 64 KiB for four, so that one block fits an SM of 99 KiB and two an
// SM of 164.
#pragma once

#include <fictl/device/divisor.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/mma.cuh>
#include <fictl/device/shared_parts.cuh>
#include <fictl/gemm/output.cuh>
#include <fictl/gemm/repack.cuh>
#include <fictl/gemm/split.cuh>
#include <fictl/gemm/tile_sm80.cuh>

namespace fictl::gemm {

// Config is what a kernel is compiled for:
//   T, Out              types of the operands (__half or __nv_bfloat16), and of the outputs
//   kMajorA, kMajorB    the dimension of each operand that is contiguous
//   Epilogue            see epilogue.cuh
//   kTileM, kTileN      of a block
template <typename Config>
struct DenseSm80Shape {
  using T = typename Config::T;
  static constexpr int kM = Config::kTileM;
  static constexpr int kN = Config::kTileN;
  static constexpr int kK = kM >= 64 ? 32 : 64;
  static constexpr int kStages = 4;
  static constexpr int kWarps = 4;
  static constexpr int kThreads = kWarps * 32;
  static constexpr int kWarpsM = kM >= 64 ? 2 : 1;
  static constexpr int kWarpM = kM / kWarpsM;
  static constexpr int kWarpN = kN / (kWarps / kWarpsM);
  static_assert(kWarpM % 16 == 0 && kWarpN % 16 == 0, "a warp has whole products");

  using TileA = StageTile<T, kM, kK, Config::kMajorA>;
  using TileB = StageTile<T, kN, kK, Config::kMajorB>;
  static constexpr int kStageBytes = TileA::kBytes + TileB::kBytes;
  static constexpr int kSharedBytes = kStages * kStageBytes;
};

// The tile of one block, and the stages of k that it adds.
struct DenseWork {
  int batch;
  int first_row;
  int first_column;
  int first_k;
  int end_k;
};

// The order of tiles: groups of kGroupRows rows of tiles, column by column.
struct TileOrder {
  static constexpr int kGroupRows = 8;

  device::Divisor tiles_m{1};
  device::Divisor tiles_n{1};
  device::Divisor group{1};   // tiles of a whole group
  device::Divisor matrix{1};  // tiles of a matrix
  int k_a_part;

  struct Place {
    int row;
    int column;
  };

  __device__ Place place(int tile) const {
    const auto [index, within] = group.divide(tile);
    const int first = index * kGroupRows;
    const int rows = min(kGroupRows, tiles_m.divisor() - first);
    return {first + within % rows, within / rows};
  }
};

template <typename Config>
class DenseSm80Warp {
  using Shape = DenseSm80Shape<Config>;
  using T = typename Config::T;
  static constexpr int kMs = Shape::kWarpM / 16;
  static constexpr int kNs = Shape::kWarpN / 16;

 public:
  __device__ DenseSm80Warp()
      : lane_(static_cast<int>(threadIdx.x) % 32),
        row_(static_cast<int>(threadIdx.x) / 32 % Shape::kWarpsM * Shape::kWarpM),
        column_(static_cast<int>(threadIdx.x) / 32 / Shape::kWarpsM * Shape::kWarpN) {}

  // Adds the products of one stage. Operands are loaded one step ahead of their products.
  __device__ void add(typename Shape::TileA a, typename Shape::TileB b) {
    constexpr int kSteps = Shape::kK / 16;
    Operands operands[2];
    load(operands[0], a, b, 0);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (step + 1 < kSteps) load(operands[(step + 1) % 2], a, b, step + 1);
      const Operands& now = operands[step % 2];
#pragma unroll
      for (int m = 0; m < kMs; ++m) {
#pragma unroll
        for (int n = 0; n < kNs; ++n) {
          const uint32_t (&pair)[4] = now.b[n];
          device::mma_m16n8k16<T>(sums_[m][n * 2], now.a[m], pair[0], pair[1]);
          device::mma_m16n8k16<T>(sums_[m][n * 2 + 1], now.a[m], pair[2], pair[3]);
        }
      }
    }
  }

  // Calls `body(sums, row, column)` for every two neighbouring columns that this lane has, as
  // numbered in the tile.
  template <typename Body>
  __device__ void each(Body body) const {
#pragma unroll
    for (int m = 0; m < kMs; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int n = 0; n < kNs * 2; ++n) {
          const float (&sums)[4] = sums_[m][n];
          body(float2{sums[half * 2], sums[half * 2 + 1]}, row_ + m * 16 + half * 8 + lane_ / 4,
               column_ + n * 8 + lane_ % 4 * 2);
        }
      }
    }
  }

 private:
  struct Operands {
    uint32_t a[kMs][4];
    uint32_t b[kNs][4];
  };

  __device__ void load(Operands& to, typename Shape::TileA a, typename Shape::TileB b,
                       int step) const {
#pragma unroll
    for (int m = 0; m < kMs; ++m) {
      a.template load<false>(to.a[m], row_ + m * 16, step * 16, lane_);
    }
#pragma unroll
    for (int n = 0; n < kNs; ++n) {
      b.template load<true>(to.b[n], column_ + n * 16, step * 16, lane_);
    }
  }

  int lane_;
  int row_;     // of the warp, in the tile
  int column_;  // likewise
  float sums_[kMs][kNs * 2][4] = {};
};

template <typename Config>
__device__ void multiply(DenseSm80Warp<Config>& warp,
                         const GemmProblem<typename Config::T, typename Config::Out>& problem,
                         const DenseWork& work, char* shared) {
  using Shape = DenseSm80Shape<Config>;
  using T = typename Config::T;
  using TileA = typename Shape::TileA;
  using TileB = typename Shape::TileB;
  const auto a_of = [&](int stage) {
    const int start = stage * Shape::kStageBytes;
    return TileA{shared + device::shared_part(shared, "A", start, TileA::kBytes)};
  };
  const auto b_of = [&](int stage) {
    const int start = stage * Shape::kStageBytes + TileA::kBytes;
    return TileB{shared + device::shared_part(shared, "B", start, TileB::kBytes)};
  };
  StageLoader<TileA, T, Shape::kThreads> a(problem.a + work.batch * problem.a_batch,
                                           TileA::kTransposed ? problem.a_k : problem.a_row,
                                           work.first_row, problem.m, work.first_k, work.end_k);
  StageLoader<TileB, T, Shape::kThreads> b(problem.b + work.batch * problem.b_batch,
                                           TileB::kTransposed ? problem.b_k : problem.b_row,
                                           work.first_column, problem.n, work.first_k, work.end_k);
  const int count = (work.end_k - work.first_k + Shape::kK - 1) / Shape::kK;
  const auto copy = [&](int stage) {
    if (stage < count) {
      a.copy(a_of(stage % Shape::kStages));
      b.copy(b_of(stage % Shape::kStages));
    }
    device::copy_commit();
  };
#pragma unroll
  for (int stage = 0; stage < Shape::kStages - 1; ++stage) copy(stage);
  for (int stage = 0; stage < count; ++stage) {
    // The stage has arrived, and no warp reads the one before any more, whose place is filled next.
    device::copy_wait<Shape::kStages - 2>();
    __syncthreads();
    copy(stage + Shape::kStages - 1);
    warp.add(a_of(stage % Shape::kStages), b_of(stage % Shape::kStages));
  }
  device::copy_wait<0>();
}

template <typename Config>
__device__ void compute_tile(const GemmProblem<typename Config::T, typename Config::Out>& problem,
                             const typename Config::Epilogue& epilogue, const DenseWork& work,
                             const SplitSums& partial, char* shared) {
  DenseSm80Warp<Config> warp;
  multiply<Config>(warp, problem, work, shared);
  warp.each([&](float2 sums, int row, int column) {
    row += work.first_row;
    column += work.first_column;
    if (row >= problem.m || column >= problem.n) return;
    if (partial.parts > 1) {
      const int64_t to = int64_t{work.batch} * problem.m + row;
      *partial.at(static_cast<int>(blockIdx.y), to, column) = sums;
    } else {
      store_pair(problem, epilogue, sums, {work.batch, row, column});
    }
  });
}

// Tiles are numbered within a matrix, then over the batch; blockIdx.y is the part of k. A block has
// one tile or, where the problem is limited to some SMs, every so manieth.
template <typename Config>
__global__ void __launch_bounds__(DenseSm80Shape<Config>::kThreads)
    DenseSm80Kernel(const GemmProblem<typename Config::T, typename Config::Out> problem,
                    const typename Config::Epilogue epilogue, const TileOrder order,
                    const SplitSums partial) {
  using Shape = DenseSm80Shape<Config>;
  extern __shared__ __align__(128) char shared[];
  const int tiles = order.matrix.divisor() * problem.batch;
  const int first_k = static_cast<int>(blockIdx.y) * order.k_a_part;
  const int end_k = min(first_k + order.k_a_part, problem.k);
  device::pdl_wait();
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
    const auto matrix = order.matrix.divide(tile);
    const TileOrder::Place place = order.place(matrix.remainder);
    __syncthreads();  // Why: the stages of the tile before may still be read.
    compute_tile<Config>(
        problem, epilogue,
        {matrix.quotient, place.row * Shape::kM, place.column * Shape::kN, first_k, end_k}, partial,
        shared);
  }
  device::pdl_trigger();
}

// The workspace of DenseSm80: repacked operands, then partial sums.
template <typename Config>
int64_t dense_sm80_workspace(const GemmProblem<typename Config::T, typename Config::Out>& problem,
                             int parts) {
  if (problem.empty()) return 0;
  return repack_bytes<Config::kMajorA, Config::kMajorB>(problem) +
         SplitSums::of(problem, parts).bytes();
}

// `parts`: of k, which are summed in their order; at most one for each stage of k is useful.
// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename Config>
cudaError_t DenseSm80(GemmProblem<typename Config::T, typename Config::Out> problem,
                      const typename Config::Epilogue& epilogue, int parts = 1,
                      cudaStream_t stream = nullptr, bool pdl = false) {
  using Shape = DenseSm80Shape<Config>;
  if (problem.empty()) return cudaSuccess;
  if (problem.workspace_bytes < dense_sm80_workspace<Config>(problem, parts)) {
    return cudaErrorInvalidValue;
  }
  cudaError_t status = repack_operands<Config::kMajorA, Config::kMajorB>(problem, stream, pdl);
  if (status != cudaSuccess) return status;
  const int64_t tiles_m = device::ceil_div(problem.m, Shape::kM);
  const int64_t tiles_n = device::ceil_div(problem.n, Shape::kN);
  const int64_t blocks = tiles_m * tiles_n * problem.batch;
  constexpr int kMostBlocks = 1 << 30;  // so that a block's next tile has a number, too
  if (blocks > kMostBlocks || parts < 1 || parts > 65535) return cudaErrorInvalidConfiguration;
  const int64_t stages = device::ceil_div(problem.k, Shape::kK);
  TileOrder order;
  order.tiles_m = device::Divisor(static_cast<int>(tiles_m));
  order.tiles_n = device::Divisor(static_cast<int>(tiles_n));
  order.group = device::Divisor(static_cast<int>(TileOrder::kGroupRows * tiles_n));
  order.matrix = device::Divisor(static_cast<int>(tiles_m * tiles_n));
  order.k_a_part = static_cast<int>(device::ceil_div(stages, parts)) * Shape::kK;
  const SplitSums partial = SplitSums::of(problem, parts);
  device::LaunchConfig config;
  const int64_t at_once = problem.limited ? problem.sm_count : blocks;
  config.grid = dim3(static_cast<unsigned>(blocks < at_once ? blocks : at_once),
                     static_cast<unsigned>(parts));
  config.block = dim3(Shape::kThreads);
  config.shared_bytes = Shape::kSharedBytes;
  config.stream = stream;
  config.pdl = pdl;
  status = device::launch<DenseSm80Kernel<Config>>(config, problem, epilogue, order, partial);
  if (status != cudaSuccess || parts == 1) return status;
  return SumParts(problem, epilogue, partial, stream, pdl);
}

}  // namespace fictl::gemm
