// Decoding of few requests: a cluster of blocks has all keys of one head of one request.
//
// Algorithm: the keys are cut into as many equal parts as the cluster has blocks, or fewer where
// these would be short of tiles for four warps. Each block sums its part up as for any
// item. Four elements of a row are then the affair of one block: the others write theirs into its
// shared memory, behind one barrier of the cluster, and it merges them in the order of the keys
// behind another. Nothing is planned, counted, or written to global memory but the result.
//
// Why only few: clusters do not help one another. One long request among short ones would keep its
// own blocks busy while all others have ended: then the work is shared out (share_out.cuh).
//
// Tiling: that of decode.cuh, or wide blocks of twice as many warps, whichever keeps more warps
// busy. A cluster has the most blocks of which there are enough clusters at once, which only the
// runtime can tell: one stays within a GPC. On an H200 the heads of one request have clusters of 16
// blocks, those of eight requests clusters of two wide ones.
//
// Traffic: that of decode.cuh. Parts go over the network between SMs: 24 bytes for four elements.
//
// Shared memory: they lie behind all else, 12 KiB with 128 dims, so that a block that writes to
// another one has only to know that it has started. Where stages of keys were, it would have to
// have walked over its keys: another fence of all memory between the last key and the result.
#pragma once

#include <fictl/attention/decode.cuh>
#include <fictl/attention/share_out.cuh>
#include <fictl/device/cluster.cuh>
#include <fictl/device/divisor.cuh>
#include <fictl/device/math.cuh>

namespace fictl::attention {

constexpr int kMostBlocksOfTile = 16;                       // of a cluster on sm_90
constexpr int kMostRequestsOfClusters = device::kWarpSize;  // suits_clusters() looks at one a lane.
constexpr int kMostSharedBytes = 227 << 10;                 // of a block on sm_90
// Keys that a block walks over in the time that sharing out takes longer.
constexpr int kWorthOfCluster = 384;

template <typename Config>
struct Clustered {
  using Shape = DecodeShape<Config>;
  static constexpr int kFours = Shape::kValues / MergedPart::kOf;
  static constexpr int kPlaces = Shape::kRows * kFours + kMostBlocksOfTile;
  static constexpr int kStatesAt = kPlaces * static_cast<int>(sizeof(MergedPart::Sums));
  static constexpr int kBytes = kStatesAt + kPlaces * static_cast<int>(sizeof(float2));
  static constexpr int kAt = (Shape::kSharedBytes + 15) / 16 * 16;
  static constexpr int kSharedBytes = kAt + kBytes;  // of blocks of clusters
  static constexpr bool kFits = Shape::kParts == 1 && kSharedBytes <= kMostSharedBytes;
  // Parts are multiples of as many keys.
  static constexpr int kOfWarps = Shape::kKeys * Shape::kWarps;
  static constexpr int kStep = kOfWarps < 64 ? 64 : kOfWarps;
};

// Tells whether a cluster of `blocks` for the longest of requests takes no longer than to share out
// `all` keys to `slots` blocks.
__host__ __device__ inline bool is_even_enough(float longest, float all, int blocks, int slots) {
  const float of_slots = static_cast<float>(slots);
  const float least = ShareOut::kShortest * of_slots;
  const float even = all > least ? all : least;
  return longest * of_slots <= static_cast<float>(blocks) * (even + kWorthOfCluster * of_slots);
}

// The same of a batch, of whose requests each lane has the length of one: by lengths alone, so that
// all blocks say the same. By a whole warp.
__device__ inline bool suits_clusters(int length, int blocks, int slots) {
  const int longest = static_cast<int>(device::warp_max(static_cast<uint32_t>(length)));
  // Units that 32 lanes can add up, to count what all have.
  constexpr int kUnit = 64;
  const uint32_t units = device::warp_sum(static_cast<uint32_t>((length + kUnit - 1) / kUnit));
  return is_even_enough(static_cast<float>(longest), static_cast<float>(units) * kUnit, blocks,
                        slots);
}

// Sums of all blocks of a cluster, which are merged by the block that they are the affair of.
template <typename Config>
class ClusterParts {
  using Shape = DecodeShape<Config>;
  using Sums = MergedPart::Sums;
  using Layout = Clustered<Config>;
  static constexpr int kFours = Layout::kFours;

 public:
  // `rows`: of the tile. Where `kFits` is false, it is not used.
  __device__ ClusterParts(char* shared, int rows, const device::Divisor& blocks)
      : blocks_(blocks),
        rank_(device::Cluster::rank()),
        count_(rows * kFours),
        each_(blocks.divide(count_ + blocks.divisor() - 1).quotient),
        shared_(shared) {}

  __device__ void push(int row, int dim, const MergedPart& part) const {
    const auto [turn, owner] = blocks_.divide(row * kFours + dim / MergedPart::kOf);
    const int place = rank_ * each_ + turn;
    Sums sums;
#pragma unroll
    for (int i = 0; i < MergedPart::kOf; ++i) sums[i] = part.sums[i];
    *device::Cluster::at(this->sums() + place, owner) = sums;
    *device::Cluster::at(states() + place, owner) = {part.state.max, part.state.sum};
  }

  // Calls finish(row, dim, merged) for what is this block's affair.
  template <typename Finish>
  __device__ void merge(Finish finish) const {
    for (int own = static_cast<int>(threadIdx.x);; own += Shape::kThreads) {
      const int number = own * blocks_.divisor() + rank_;
      if (number >= count_) return;
      const MergedPart merged = MergedPart::of(
          blocks_.divisor(), [&](int part) { return states()[part * each_ + own]; },
          [&](int part) { return sums()[part * each_ + own]; });
      finish(number / kFours, number % kFours * MergedPart::kOf, merged);
    }
  }

 private:
  __device__ char* place(int offset, int bytes) const {
    return shared_ +
           device::shared_part(shared_, "parts of a cluster", Layout::kAt + offset, bytes);
  }
  __device__ Sums* sums() const { return reinterpret_cast<Sums*>(place(0, Layout::kStatesAt)); }
  __device__ float2* states() const {
    constexpr int kBytes = Layout::kBytes - Layout::kStatesAt;
    return reinterpret_cast<float2*>(place(Layout::kStatesAt, kBytes));
  }

  const device::Divisor& blocks_;
  int rank_;
  int count_;  // of four elements each
  int each_;   // at most, of a block
  char* shared_;
};

// Tells whether clusters have the requests, and finds the item of this block, of request `number`:
// its part of the keys, which are cut into equal ones, of steps of kStep keys. A request of one
// part is the first block's alone; otherwise those that come too late for keys have parts of none.
// `surely`: clusters have them whatever their lengths are. By a whole warp, of which each lane
// looks at a request. Why each warp for itself: a barrier would take longer.
template <int kStep>
__device__ bool find_in_cluster(const ShareOut& whole, int number, const device::Divisor& blocks,
                                bool surely, Found* found) {
  const int lane = static_cast<int>(threadIdx.x) % device::kWarpSize;
  const int at = surely ? number : lane;
  Request request{};
  Cut cut{};
  if (at < whole.requests().count) {
    request = whole.requests()[at];
    cut = whole.cut(request);
  }
  if (!surely && !suits_clusters(cut.length, blocks.divisor(), whole.sharing().slots)) return false;
  const auto own = [&](int x) { return __shfl_sync(0xffffffff, x, number % device::kWarpSize); };
  const int begin = own(cut.begin);
  const int end = own(cut.end);
  const int steps = (end - begin + kStep - 1) / kStep;
  const int each = max(blocks.divide(steps + blocks.divisor() - 1).quotient, 1);
  Item item{};
  item.request = number;
  item.q_start = own(request.q_start);
  item.q_len = own(request.q_len);
  item.kv_start = own(request.kv_start);
  item.kv_len = own(request.kv_len);
  item.begin = min(begin + device::Cluster::rank() * each * kStep, end);
  item.end = min(end, item.begin + each * kStep);
  item.partial = -1;
  if (lane == 0) *found = {item, steps > each ? blocks.divisor() : 1, 0};
  __syncwarp();
  return true;
}

// Blocks of a cluster for a batch of which each head has one, and blocks for each head of the keys.
struct ClusterShape {
  int cluster;  // 1: there are too many requests, or too few keys
  int blocks;
};

// `likely`: keys of the longest request, as the caller says; where they are so many that work would
// be shared out, there are no clusters, which leave SMs empty then. `active(blocks)`: how many
// clusters of as many blocks run at once.
template <typename Config, typename Of, typename Active>
ClusterShape cluster_shape(const Problem<Of>& problem, const Requests& requests, int64_t likely,
                           Active active) {
  constexpr ClusterShape kNone{1, 0};
  if (!Clustered<Config>::kFits || requests.count > kMostRequestsOfClusters) return kNone;
  if (int64_t{requests.q_len} * problem.group.divisor() > DecodeShape<Config>::kRows) return kNone;
  const int64_t window = int64_t{problem.window_left} + requests.q_len;
  const int64_t keys = requests.keys < window ? requests.keys : window;
  const int64_t parts = device::ceil_div(keys, int64_t{Clustered<Config>::kStep});
  const int64_t heads = int64_t{requests.count} * problem.kv_heads;
  for (int blocks = parts < kMostBlocksOfTile ? static_cast<int>(parts) : kMostBlocksOfTile;
       blocks > 1; --blocks) {
    const int64_t clusters = active(blocks);
    if (clusters < heads) continue;
    // For work that is shared out after all: all clusters, as far as heads have equally many
    // blocks.
    int unit = blocks;
    while (unit % 2 == 0 && unit / 2 * problem.kv_heads % blocks == 0) unit /= 2;
    const int64_t all = clusters * blocks / problem.kv_heads / unit * unit;
    const int64_t needed = int64_t{requests.count} * blocks;
    const int of_head = static_cast<int>(all > needed ? all : needed);
    const float longest = static_cast<float>(likely < keys ? likely : keys);
    if (!is_even_enough(longest, longest * requests.count, blocks, of_head)) return kNone;
    return {blocks, of_head};
  }
  return kNone;
}

}  // namespace fictl::attention
