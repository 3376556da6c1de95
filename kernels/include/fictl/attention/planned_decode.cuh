// Decoding whose work is shared out by the blocks themselves: decode.cuh without a list of work.
//
// Algorithm: as many blocks as run at once. The first warp of each finds out how the keys of the
// batch are best split (share_out.cuh), and which item is the block's; then it is the next one as
// far on as there are blocks. A block that is the last of a tile's parts merges them, in their
// order, so that the same lengths give the same bits. Its counter is then zero again, as it was
// before the launch.
//
// Clusters: where there is a cluster of blocks for each head of each request, and parts of one size
// are about as good as evenly shared work, a cluster has the keys of one head (clustered.cuh).
// What finding one's part, counting the blocks and merging through L2 take, some 3 us, is then 1.
// Where no request can have more keys than a part is to have at least, as in a window of 128, each
// block is a cluster of its own, and nobody looks at other requests.
//
// Why one launch: a second kernel for the merge takes 2 us even where it starts ahead, and one for
// the plan as much again, while a request of 1000 keys is done in 7.
//
// Traffic: that of decode.cuh, and the parts: 4 bytes an element, written and read once, in L2.
//
// Tiling: that of decode.cuh. A warp merges a row: a lane has 4 values, and the sums of 32 parts,
// whose weights it hands round. 16 parts are in flight, or 32 where there are registers for them:
// each of them comes from L2, and the sum of a request waits for the last.
#pragma once

#include <fictl/attention/clustered.cuh>
#include <fictl/attention/decode.cuh>
#include <fictl/attention/share_out.cuh>
#include <fictl/device/divisor.cuh>

namespace fictl::attention {

struct DecodeBatch {
  Requests requests;
  Sharing sharing;
  int blocks;  // for each head of the keys: sharing.slots, or as many as there may be items
  // Why divisors: each block divides by them before its first key.
  device::Divisor kv_heads{1};
  device::Divisor cluster{1};  // blocks of one
  bool whole;                  // each request has a cluster, whatever the lengths
  int32_t* counters;           // [sharing.room][kv_heads], zeros between launches
};

// Merges the parts of a tile's rows, of which the first is at `partial`. By a whole block.
template <typename Config>
class TileMerge {
  using Shape = DecodeShape<Config>;
  using Sums = MergedPart::Sums;

 public:
  __device__ TileMerge(const Problem<Config>& problem, const Item& item, int parts, int kv_head,
                       int first_value)
      : problem_(problem),
        item_(item),
        parts_(parts),
        kv_head_(kv_head),
        first_value_(first_value),
        rows_(min(problem.group.divisor() * item.q_len - item.row, Shape::kRows)),
        lane_(static_cast<int>(threadIdx.x) % device::kWarpSize) {}

  __device__ void run() const {
    Item whole = item_;
    whole.partial = -1;
    const int warp = static_cast<int>(threadIdx.x) / device::kWarpSize;
    for (int row = warp; row < rows_; row += Shape::kWarps) {
#pragma unroll
      for (int four = 0; four < kFours; four += device::kWarpSize) {
        const int dim = first_value_ + (four + lane_) * MergedPart::kOf;
        const bool has_values = kFours % device::kWarpSize == 0 || four + lane_ < kFours;
        const MergedPart merged = merge(row, dim, has_values);
        if (has_values) store_merged(problem_, whole, kv_head_, row, dim, merged);
      }
    }
  }

 private:
  static constexpr int kFours = Shape::kValues / MergedPart::kOf;
  // Parts that are added up, while as many more are in flight.
  static constexpr int kAtOnce = Shape::kBlocks < 3 ? 16 : 8;

  __device__ int64_t place(int part, int row) const {
    return (int64_t{item_.partial} + part * rows_ + row) * problem_.kv_heads + kv_head_;
  }

  // Four values of a row. Why the first are loaded before the weights are known: both come from L2.
  __device__ MergedPart merge(int row, int dim, bool has_values) const {
    MergedPart merged;
    Sums now[kAtOnce];
    Sums next[kAtOnce];
    load(now, 0, row, dim, has_values);
    load(next, kAtOnce, row, dim, has_values);
    for (int first = 0; first < parts_; first += device::kWarpSize) {
      const int part = first + lane_;
      const float lse = part < parts_ ? __ldcg(problem_.partial_lse + place(part, row)) : -INFINITY;
      const float kept = merged.state.raise(device::warp_reduce(device::Max(), lse));
      const float weight = merged.state.weight(lse);
      merged.state.sum += device::warp_sum(weight);
#pragma unroll
      for (int i = 0; i < MergedPart::kOf; ++i) merged.sums[i] *= kept;
      for (int some = 0; some < device::kWarpSize && first + some < parts_; some += kAtOnce) {
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          const float own = __shfl_sync(0xffffffff, weight, some + i);
#pragma unroll
          for (int j = 0; j < MergedPart::kOf; ++j) merged.sums[j] += own * now[i].data[j];
          now[i] = next[i];
        }
        load(next, first + some + 2 * kAtOnce, row, dim, has_values);
      }
    }
    return merged;
  }

  // Parts from `first` on; those beyond the last are zeros, as their weights.
  __device__ void load(Sums (&to)[kAtOnce], int first, int row, int dim, bool has_values) const {
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      to[i] = {};
      if (!has_values || first + i >= parts_) continue;
      to[i] = device::load_l2<MergedPart::kOf>(problem_.partial_out +
                                               place(first + i, row) * kValueDimOf<Config> + dim);
    }
  }

  const Problem<Config>& problem_;
  const Item& item_;
  int parts_;
  int kv_head_;
  int first_value_;
  int rows_;
  int lane_;
};

// Tells the block that stored the last of a tile's parts. By a whole block.
__device__ inline bool is_last_part(int32_t* counter, int parts, bool* shared) {
  __syncthreads();
  if (threadIdx.x == 0) {
    // Releases what this block stored, and acquires what others did. Why not fences around an
    // atomic addition: they are sequentially consistent, which is more than is needed.
    int before;
    asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], 1;"
                 : "=r"(before)
                 : "l"(counter)
                 : "memory");
    *shared = before == parts - 1;
    if (*shared) *counter = 0;
  }
  __syncthreads();
  return *shared;
}

// Asks ahead for the queries of a request, where nothing on the device says which these are.
template <typename Config>
__device__ void ask_ahead_for_queries(const Problem<Config>& problem, const Requests& requests,
                                      int request, int kv_head) {
  constexpr int kOfLine = device::kLineBytes / static_cast<int>(sizeof(typename Config::Q));
  constexpr int kLines = (Config::kHeadDim + kOfLine - 1) / kOfLine;
  const int line = static_cast<int>(threadIdx.x) % kLines;
  const Row own = row_of(problem, static_cast<int>(threadIdx.x) / kLines, kv_head);
  const int token = request * requests.q_len + own.query;
  if (requests.q_starts != nullptr || own.query >= requests.q_len || token >= requests.queries) {
    return;
  }
  device::prefetch_line(problem.q.row(token, own.head) + line * kOfLine);
}

template <typename Config>
device::LaunchConfig planned_launch(int cluster) {
  device::LaunchConfig config;
  config.block = dim3(DecodeShape<Config>::kThreads);
  config.cluster = dim3(static_cast<unsigned>(cluster));
  config.grid = config.cluster;
  config.shared_bytes =
      cluster > 1 ? Clustered<Config>::kSharedBytes : DecodeShape<Config>::kSharedBytes;
  return config;
}

template <typename Config>
__global__ void __launch_bounds__(DecodeShape<Config>::kThreads, DecodeShape<Config>::kBlocks)
    PlannedDecodeKernel(const __grid_constant__ Problem<Config> problem,
                        const __grid_constant__ DecodeBatch batch) {
  using Shape = DecodeShape<Config>;
  extern __shared__ __align__(128) char shared[];
  // Items of the warps of a cluster's block, each its own, or of the one that plans.
  __shared__ Found found_by[Shape::kWarps];
  // Why here: what is looked at once an item would take registers of the walk over the keys.
  __shared__ int length;
  __shared__ int number;
  __shared__ Progress progress;
  __shared__ bool has_item;
  __shared__ bool is_last;

  const int value_part = static_cast<int>(blockIdx.x) % Shape::kParts;
  const int block = static_cast<int>(blockIdx.x) / Shape::kParts;
  const int first_value = value_part * Shape::kPartStep;
  const bool plans = threadIdx.x < device::kWarpSize;
  // Request and head of a cluster.
  const device::Divisor::Result of_cluster =
      batch.kv_heads.divide(batch.cluster.divide(block).quotient);
  const bool has_clusters = batch.whole || batch.cluster.divisor() > 1;
  if (threadIdx.x == 0) {
    device::prefetch_line(batch.requests.kv_lens + (batch.whole ? of_cluster.quotient : 0));
  }
  ask_ahead_for_pages(problem);
  if (has_clusters) {
    ask_ahead_for_queries(problem, batch.requests, of_cluster.quotient, of_cluster.remainder);
  }
  device::pdl_wait();
  device::pdl_trigger();

  const Sight sight{problem.group.divisor(), problem.causal, problem.window_left};
  const ShareOut whole(batch.requests, sight, batch.sharing);
  const int warp = static_cast<int>(threadIdx.x) / device::kWarpSize;
  const bool clustered =
      has_clusters && find_in_cluster<Clustered<Config>::kStep>(
                          whole, of_cluster.quotient, batch.cluster, batch.whole, &found_by[warp]);
  const Found& found = found_by[clustered ? warp : 0];
  if (clustered && (of_cluster.quotient >= batch.requests.count || found.item.q_len == 0)) return;
  const auto [first_item, of_block] = batch.kv_heads.divide(block);
  const int kv_head = clustered ? of_cluster.remainder : of_block;
  if (plans && !clustered) {
    const int best = whole.choose();
    if (threadIdx.x == 0) {
      length = best;
      number = first_item;
    }
    Cursor(whole, progress).begin();
  }
  // One loop for both, since the walk over the keys is much code.
  for (;;) {
    if (!clustered) {
      if (plans) {
        const ShareOut shares(batch.requests, sight, batch.sharing, length);
        const bool finds = Cursor(shares, progress).find(number, found_by);
        if (threadIdx.x == 0) {
          has_item = finds;
          number += batch.blocks;
        }
      }
      __syncthreads();
      if (!has_item) return;
    }
    const Item item = found.item;
    const bool meets = clustered && found.parts > 1;  // other blocks of the cluster
    if (clustered && !meets && device::Cluster::rank() > 0) return;
    if (meets) device::Cluster::arrive_started();
    const ClusterParts<Config> cluster(shared, problem.group.divisor() * item.q_len, batch.cluster);
    const auto store = [&](int row, int dim, const MergedPart& merged) {
      store_merged(problem, item, kv_head, row, dim, merged);
    };
    decode_item(
        problem, item, kv_head, first_value, shared,
        [&] {
          if (meets) device::Cluster::wait();
        },
        [&](int row, int dim, const MergedPart& merged) {
          meets ? cluster.push(row, dim, merged) : store(row, dim, merged);
        });
    if (meets) {
      device::Cluster::sync();
      cluster.merge(store);
    }
    if (clustered) return;
    if (item.partial >= 0) {
      int32_t* counter = batch.counters + found.tile * problem.kv_heads + kv_head;
      // Why one count for all blocks that share out a head of values: the sums of weights, which
      // the first of them stores, are for the merges of all.
      if (is_last_part(counter, found.parts * Shape::kParts, &is_last)) {
        Item tile = found.item;
        tile.partial = found.tile * batch.sharing.rows;
        for (int of = 0; of < Shape::kParts; ++of) {
          TileMerge<Config>(problem, tile, found.parts, kv_head, of * Shape::kPartStep).run();
        }
      }
    }
    // The next item's keys go where the sums of this one are read.
    __syncthreads();
  }
}

// Without a list: of `problem` neither items nor merges are read.
template <typename Config>
cudaError_t PlannedDecode(const Problem<Config>& problem, const DecodeBatch& batch,
                          cudaStream_t stream = nullptr, bool pdl = false) {
  if (batch.blocks == 0 || problem.kv_heads == 0) return cudaSuccess;
  device::LaunchConfig config = planned_launch<Config>(batch.cluster.divisor());
  config.grid =
      dim3(static_cast<unsigned>(batch.blocks) * problem.kv_heads * DecodeShape<Config>::kParts);
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<PlannedDecodeKernel<Config>>(config, problem, batch);
}

// The shape of clusters that PlannedDecode() of Config is to be called with; the problem may be of
// blocks that are wide, or not.
template <typename Config, typename Of>
ClusterShape planned_clusters(const Problem<Of>& problem, const Requests& requests,
                              int64_t likely) {
  constexpr auto kernel = PlannedDecodeKernel<Config>;
  if (!device::has_pdl<kernel>()) return {1, 0};  // Code for sm_90 or newer has both.
  return cluster_shape<Config>(problem, requests, likely, [](int blocks) {
    return device::active_clusters<kernel>(planned_launch<Config>(blocks));
  });
}

}  // namespace fictl::attention
