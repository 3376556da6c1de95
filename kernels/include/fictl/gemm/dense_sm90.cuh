// GEMM for Hopper: D[i] = epilogue(A[i] B[i]^T) with bulk tensor copies and wgmma, for 16-bit
// operands.
//
// Algorithm: a persistent grid, one block an SM. In each block one thread loads tiles of both
// operands into a ring of stages; two warpgroups multiply them, and store their sums while the next
// tile's stages arrive.
//
//   producer        load 0 | load 1 | ...              | next tile ...
//   warpgroup 1, 2           multiply 0 | multiply 1 ... | epilogue, bulk stores | next tile
//
// Traffic: a tile of 128 x 256 reads 48 KiB for 4 MFLOP, 85 FLOP a byte of L2; blocks in a cluster
// of 2 share one operand, which makes it 128. Tiles run in groups, so that device memory is read
// little more than once.
//
// Tiling: 128 x 256 is the largest whose sums (128 registers a thread) leave room for everything
// else, and each instruction of 64 x 256 x 16 reads 80 of the 128 bytes a clock that shared memory
// gives. Smaller tiles fill the SMs where there are few of them: kernels/gemm/_choice.py weighs
// that.
#pragma once

#include <algorithm>
#include <type_traits>

#include <fictl/device/cluster.cuh>
#include <fictl/device/hopper/elect.cuh>
#include <fictl/device/hopper/guard.cuh>
#include <fictl/device/hopper/registers.cuh>
#include <fictl/device/hopper/tile_order.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/shared.cuh>
#include <fictl/gemm/problem.cuh>
#include <fictl/gemm/sm90/cluster_parts.cuh>
#include <fictl/gemm/sm90/partial.cuh>
#include <fictl/gemm/sm90/store.cuh>

namespace fictl::gemm {

// Arguments of the kernel beside the maps.
template <typename Tile, typename Out, typename Epilogue>
struct DenseArguments {
  Destination<Out> d;
  WorkPlan work;
  device::TileOrder order;  // of clusters of tiles, in one matrix
  int x_rows;               // of X, a tile: Tile::kX, or less so that tiles fill the SMs evenly
  uint32_t stage_bytes;
  bool x_repeats;  // one matrix for the whole batch
  bool y_repeats;
  PartialSums<Tile> partial;
  Epilogue epilogue;
};

namespace sm90 {

constexpr int kProducerRegisters = 40;
constexpr int kConsumerRegisters = 232;

// Named barriers; the turns of ping-pong come after those of the warpgroups.
enum Barrier { kWarpgroupBarrier = 1, kTurnBarrier = kWarpgroupBarrier + kConsumers };

// Where a tile of a work item begins, for one block of a cluster.
struct TileStart {
  int batch;
  int x;
  int y;
};

template <typename Tile>
__device__ TileStart tile_start(const device::TileOrder& order, int x_rows, int tile,
                                ClusterPlace<Tile> place) {
  const int tiles = order.rows * order.columns;
  const device::TilePlace at = order.place(tile % tiles);
  return {tile / tiles, (at.row * Tile::kClusterX + place.x) * x_rows,
          (at.column * Tile::kClusterY + place.y) * Tile::kY};
}

// Adds the parts of a tile that the next workers have left.
template <typename Tile>
__device__ void add_later_parts(Sums<Tile>& sums, const PartialSums<Tile>& partial,
                                const WorkPlan& work, WorkItem item, int worker, int rank, int part,
                                int thread) {
  const int tile_end = (item.tile - work.whole + 1) * work.steps;
  for (int other = worker + 1; work.before(other) < tile_end; ++other) {
    if (work.before(other) == work.before(other + 1)) continue;  // has nothing
    partial.add(sums, other * Tile::kClusterBlocks + rank, part, thread);
  }
}

// The block's place in its cluster and in the grid, and its shared memory.
template <typename Tile, typename Shared>
struct BlockPlace {
  Shared& shared;
  int rank;
  ClusterPlace<Tile> place;
  int worker;
};

// The producer: one thread loads the stages of all work items.
template <typename Tile, typename Stages, device::Major kMajorX, device::Major kMajorY,
          typename Shared, typename Arguments>
__device__ __forceinline__ void produce(const BlockPlace<Tile, Shared>& block,
                                        const CUtensorMap& x_map, const CUtensorMap& y_map,
                                        const Arguments& arguments) {
  typename decltype(block.shared.ring)::Position at;
  device::pdl_wait();
  for_each_item(arguments.work, block.worker, [&](WorkItem item, auto) {
    if constexpr (Tile::kParts > 1) item = part_of(item, block.rank, Tile::kParts);
    const auto start = tile_start<Tile>(arguments.order, arguments.x_rows, item.tile, block.place);
    const int k = item.begin * Tile::kStepK;
    load_stages<Tile, Stages, kMajorX, kMajorY>(
        block.shared, at, x_map, y_map,
        {{arguments.x_repeats ? 0 : start.batch, start.x, k},
         {arguments.y_repeats ? 0 : start.batch, start.y, k}},
        block.place, item.steps(), arguments.stage_bytes);
  });
  // Other blocks' barriers and this one's memory must exist until all copies have been used.
  if constexpr (Tile::kSharing > 1) block.shared.ring.drain(at);
}

// A consumer warpgroup: multiplies, adds what others have of its tiles, stores.
template <typename T, typename Out, typename Tile, typename Stages, device::Major kMajorX,
          device::Major kMajorY, typename Shared, typename Arguments>
__device__ __forceinline__ void consume(const BlockPlace<Tile, Shared>& block,
                                        const CUtensorMap& d_map, const Arguments& arguments,
                                        int warpgroup) {
  constexpr int kBoth = kConsumers * device::kWarpgroup;
  Shared& shared = block.shared;
  const int thread = static_cast<int>(threadIdx.x) % device::kWarpgroup;
  const device::NamedBarrier together{kWarpgroupBarrier + warpgroup, device::kWarpgroup};
  const device::NamedBarrier my_turn{kTurnBarrier + warpgroup, kBoth};
  const device::NamedBarrier next_turn{kTurnBarrier + 1 - warpgroup, kBoth};
  // Which part of a tile's rows, and of what a block leaves for others.
  const int part = Tile::kPingPong ? 0 : warpgroup;
  const int first_row = part * Tile::kRows;
  TileStore<Tile, Out, std::decay_t<decltype(arguments.epilogue)>> out(
      shared.panels[warpgroup], d_map, arguments.d, arguments.epilogue, together, thread);
  ClusterParts<Tile> parts(shared.parts);
  typename decltype(shared.ring)::Position at;
  device::pdl_wait();
  if (Tile::kPingPong && warpgroup == 1) next_turn.arrive();
  int turn = 0;
  uint32_t parity = 0;  // of the parts' barriers
  for_each_item(arguments.work, block.worker, [&](WorkItem item, auto is_part) {
    constexpr bool kIsPart = decltype(is_part)::value;
    if constexpr (Tile::kParts > 1) item = part_of(item, block.rank, Tile::kParts);
    if (Tile::kPingPong && turn++ % kConsumers != warpgroup) {
      at.skip(item.steps());
      return;
    }
    // Why here: divisions take registers, which are sums after this.
    const auto start = tile_start<Tile>(arguments.order, arguments.x_rows, item.tile, block.place);
    Sums<Tile> sums;
    if constexpr (Tile::kPingPong) my_turn.sync();
    multiply_stages<T, Tile, Stages, kMajorX, kMajorY>(sums, shared, at, first_row, item.steps(),
                                                       thread % 32);
    if constexpr (Tile::kPingPong) next_turn.arrive();
    if constexpr (Tile::kParts > 1) {
      if (!parts.meet(sums, shared.panels[warpgroup], block.rank, warpgroup, thread, parity)) {
        return;
      }
    } else if (kIsPart && item.begin > 0) {
      arguments.partial.leave(sums, blockIdx.x, part, thread);
      together.sync();
      if (thread == 0) arguments.partial.announce(blockIdx.x, part);
      return;
    } else if (kIsPart && item.end < arguments.work.steps) {
      add_later_parts<Tile>(sums, arguments.partial, arguments.work, item, block.worker, block.rank,
                            part, thread);
    }
    if constexpr (Tile::kExchanged) {
      out.store(sums, start.batch, start.y, start.x + first_row, start.x + arguments.x_rows);
    } else {
      out.store(sums, start.batch, start.x + first_row, start.y, arguments.d.n);
    }
  });
  // Takes the signal that the last tile's warpgroup has given.
  if (Tile::kPingPong && turn % kConsumers == warpgroup) my_turn.sync();
  out.finish();
}

}  // namespace sm90

template <typename T, typename Out, typename Tile, device::Major kMajorX, device::Major kMajorY,
          typename Epilogue>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    DenseKernel(const __grid_constant__ CUtensorMap x_map,
                const __grid_constant__ CUtensorMap y_map,
                const __grid_constant__ CUtensorMap d_map,
                const __grid_constant__ DenseArguments<Tile, Out, Epilogue> arguments) {
#ifdef FICTL_HOPPER
  using Stage = Stages<Tile, kMajorX, kMajorY>;
  using Shared = SharedTiles<Stage>;
  extern __shared__ unsigned char dynamic_shared[];
  Shared& shared = device::aligned<Shared>(dynamic_shared);

  const int role = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / device::kWarpgroup, 0);
  const int rank = Tile::kClusterBlocks == 1 ? 0 : device::Cluster::rank();
  const sm90::BlockPlace<Tile, Shared> block{shared, rank, ClusterPlace<Tile>(rank),
                                             static_cast<int>(blockIdx.x) / Tile::kClusterBlocks};
  if (threadIdx.x == 0) {
    shared.ring.init(Tile::kConsumerWarps * Tile::kSenders);
    if constexpr (Tile::kParts > 1) ClusterParts<Tile>(shared.parts).init();
    device::prefetch_tensor_map(x_map);
    device::prefetch_tensor_map(y_map);
  }
  if constexpr (Tile::kClusterBlocks == 1) {
    __syncthreads();
  } else {
    device::Cluster::sync();
  }

  // The next kernel's blocks may take the SMs as they become free; it waits for this one's results.
  device::pdl_trigger();

  if (role == 0) {
    device::give_registers_up<sm90::kProducerRegisters>();
    if (threadIdx.x < 32 && device::elect_lane()) {
      sm90::produce<Tile, Stage, kMajorX, kMajorY>(block, x_map, y_map, arguments);
    }
  } else {
    device::take_registers<sm90::kConsumerRegisters>();
    sm90::consume<T, Out, Tile, Stage, kMajorX, kMajorY>(block, d_map, arguments, role - 1);
  }
#endif
}

namespace sm90 {

// Blocks that a plan takes to run at once at most: the SMs of a whole chip.
constexpr int kMostBlocks = 144;

// Rows of X that a tile takes. Weights of few rows of A are read as fast as memory gives them if
// all SMs read as long: 28672 rows are 448 tiles of 64, 3.39 for each of 132 SMs, so that most wait
// for the last; but 512 tiles of 56, 3.88 for each.
//
// kColumnBytes: of D, that a row of X makes. The rows are columns of D, and a tile's threads write
// 16 bytes at a time, so that each tile begins at such a place: with 16 rows a step where a pair of
// columns is one output of 16 bits.
template <typename Tile, device::Major kMajorX, int kColumnBytes>
int rows_a_tile(int x_extent, int64_t other_tiles, int sm_count) {
  constexpr bool kMayBeLess =
      Tile::kExchanged && kMajorX == device::Major::kK && Tile::kSharing == 1;
  if (!kMayBeLess) return Tile::kX;
  const auto rows_of_busiest = [&](int rows) {
    const int64_t tiles = device::ceil_div(x_extent, rows) * other_tiles;
    const int64_t workers = std::max(1, sm_count / Tile::kParts);
    return device::ceil_div(tiles, workers) * rows;
  };
  constexpr int kStep = std::max(8, 16 / kColumnBytes);
  int best = Tile::kX;
  for (int rows = Tile::kX - kStep; rows > Tile::kX / 2; rows -= kStep) {
    if (rows_of_busiest(rows) < rows_of_busiest(best)) best = rows;
  }
  return best;
}

template <typename Tile>
WorkPlan plan_work(int64_t tiles, int steps, int sm_count, int parts) {
  const int64_t most = std::max(1, std::min(sm_count, kMostBlocks) / Tile::kClusterBlocks);
  const int64_t rounds = tiles / most * most;
  const bool divide = parts > 1 && Tile::kParts == 1 && (tiles - rounds) * steps <= INT32_MAX;
  const int64_t whole = divide ? rounds : tiles;
  const int64_t divided = (tiles - whole) * std::min(parts, steps);
  return {tiles, whole, steps, std::min(most, std::max(whole, divided))};
}

}  // namespace sm90

// Tells whether the copy engine can address a matrix: the base and all strides are multiples of 16
// bytes.
template <typename U>
bool bulk_addressable(const U* data, int64_t rows, int64_t row_stride, int64_t batch,
                      int64_t batch_stride) {
  const auto fits = [](int64_t extent, int64_t stride) {
    const int64_t bytes = stride * static_cast<int64_t>(sizeof(U));
    return extent <= 1 || (bytes % 16 == 0 && bytes >= 0 && bytes < int64_t{1} << 40);
  };
  return reinterpret_cast<uintptr_t>(data) % 16 == 0 && fits(rows, row_stride) &&
         fits(batch, batch_stride);
}

// Bytes of workspace that DenseSm90() needs to divide tiles into `parts`.
template <typename Tile, typename T, typename Out>
int64_t dense_sm90_workspace(const GemmProblem<T, Out>& p, int parts) {
  if (parts <= 1 || Tile::kParts > 1 || p.empty()) return 0;
  const int x_extent = Tile::kExchanged ? p.n : p.m, y_extent = Tile::kExchanged ? p.m : p.n;
  // Half a tile: the fewest rows that rows_a_tile() gives.
  const int64_t tiles = device::ceil_div(x_extent, Tile::kX / 2) *
                        device::ceil_div(y_extent, Tile::kY) * p.batch * Tile::kClusterBlocks;
  return PartialSums<Tile>::bytes(
      static_cast<int>(std::min<int64_t>(tiles * parts, sm90::kMostBlocks)));
}

// D = epilogue(A B^T) by tiles of this shape. `parts` above 1: tiles that do not fill a round of
// the SMs are divided along K, into that many parts or as many as there are SMs for. `group`: rows
// of tiles that run together; of 16, a wave of 132 tiles reads 16 + 9 strips.
//
// Requires k > 0, and operands that bulk_addressable() accepts, whose contiguous dimensions are
// kMajorA and kMajorB. D may have any row stride; rows of multiples of 16 bytes are faster.
template <typename Tile, device::Major kMajorA, device::Major kMajorB, typename T, typename Out,
          typename Epilogue>
cudaError_t DenseSm90(const GemmProblem<T, Out>& p, const Epilogue& epilogue, int parts = 1,
                      int group = 16, cudaStream_t stream = nullptr, bool pdl = false) {
  constexpr bool kExchanged = Tile::kExchanged;
  constexpr device::Major kMajorX = kExchanged ? kMajorB : kMajorA;
  constexpr device::Major kMajorY = kExchanged ? kMajorA : kMajorB;
  constexpr auto* kKernel = &DenseKernel<T, Out, Tile, kMajorX, kMajorY, Epilogue>;
  if (p.empty()) return cudaSuccess;

  const int x_extent = kExchanged ? p.n : p.m, y_extent = kExchanged ? p.m : p.n;
  const int y_tiles = static_cast<int>(device::ceil_div(y_extent, Tile::kY * Tile::kClusterY));
  constexpr int kColumnBytes = static_cast<int>(sizeof(Out)) / Epilogue::kColumnsPerOutput;
  const int x_rows = sm90::rows_a_tile<Tile, kMajorX, kColumnBytes>(
      x_extent, int64_t{y_tiles} * p.batch, p.sm_count);

  const int x_tiles = static_cast<int>(device::ceil_div(x_extent, x_rows * Tile::kClusterX));
  const int64_t tiles = int64_t{x_tiles} * y_tiles * p.batch;
  if (tiles > INT32_MAX) return cudaErrorInvalidValue;
  const WorkPlan work = sm90::plan_work<Tile>(
      tiles, static_cast<int>(device::ceil_div(p.k, Tile::kStepK)), p.sm_count, parts);

  DenseArguments<Tile, Out, Epilogue> arguments = {{}, work};
  arguments.epilogue = epilogue;
  arguments.x_rows = x_rows;
  arguments.order = {x_tiles, y_tiles, group};
  arguments.stage_bytes =
      Stages<Tile, kMajorX, kMajorY>::kBytes - (Tile::kX - x_rows) * Tile::kPanelsK * kRowBytes;
  arguments.x_repeats = (kExchanged ? p.b_batch : p.a_batch) == 0;
  arguments.y_repeats = (kExchanged ? p.a_batch : p.b_batch) == 0;
  arguments.d = {p.d, p.m, p.n, device::usable_stride(p.m, p.d_row), p.d_batch};
  // A bulk store of a panel would write the columns between this tile's last one and the panel's.
  arguments.d.aligned = bulk_addressable(p.d, p.m, p.d_row, p.batch, p.d_batch);
  // It writes whole 16 bytes, also behind the last column.
  const bool whole = p.n / Epilogue::kColumnsPerOutput * sizeof(Out) % 16 == 0;
  arguments.d.bulk = arguments.d.aligned && whole && x_rows == Tile::kX;

  CUtensorMap maps[3] = {};
  const auto operand = [&p](auto major, const T* data, int rows, int64_t row_stride,
                            int64_t k_stride, int64_t batch_stride, int box) {
    constexpr device::Major kMajor = decltype(major)::value;
    const int64_t stride = kMajor == device::Major::kK ? device::usable_stride(rows, row_stride)
                                                       : device::usable_stride(p.k, k_stride);
    return operand_map<kMajor>(data, p.batch, rows, p.k, stride, batch_stride, box);
  };
  const int x_box = x_rows / Tile::kClusterY, y_box = Tile::kY / Tile::kClusterX;
  const auto a = operand(std::integral_constant<device::Major, kMajorA>(), p.a, p.m, p.a_row, p.a_k,
                         p.a_batch, kExchanged ? y_box : x_box);
  const auto b = operand(std::integral_constant<device::Major, kMajorB>(), p.b, p.n, p.b_row, p.b_k,
                         p.b_batch, kExchanged ? x_box : y_box);
  cudaError_t status = device::make_tensor_map(kExchanged ? b : a, &maps[0]);
  if (status == cudaSuccess) status = device::make_tensor_map(kExchanged ? a : b, &maps[1]);
  if (status == cudaSuccess && arguments.d.bulk) {
    status = device::make_tensor_map(
        destination_map<Tile, Out, Epilogue::kColumnsPerOutput>(arguments.d, p.batch), &maps[2]);
  }
  if (status != cudaSuccess) return status;

  const int blocks = work.workers * Tile::kClusterBlocks;
  if (work.divides()) {
    if (p.workspace_bytes < PartialSums<Tile>::bytes(blocks)) return cudaErrorInvalidValue;
    arguments.partial = PartialSums<Tile>::in(p.workspace, blocks);
    status =
        cudaMemsetAsync(arguments.partial.flags, 0, PartialSums<Tile>::flag_bytes(blocks), stream);
    if (status != cudaSuccess) return status;
  }

  device::LaunchConfig config;
  config.grid = dim3(blocks);
  config.block = dim3(Tile::kThreads);
  config.stream = stream;
  config.shared_bytes = sizeof(SharedTiles<Stages<Tile, kMajorX, kMajorY>>) + device::kPatternBytes;
  config.cluster = dim3(Tile::kClusterBlocks, 1, 1);
  config.pdl = pdl && !work.divides();  // the flags are set to zero before
  return device::launch<kKernel>(config, maps[0], maps[1], maps[2], arguments);
}

}  // namespace fictl::gemm
