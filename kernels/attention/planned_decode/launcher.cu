#include <binding/attention_planned.h>
#include <binding/attention_problem.h>
#include <binding/unstacked.h>

#include <algorithm>

#include <fictl/attention/planned_decode.cuh>
#include <fictl/device/math.cuh>

#include "config.inc"

namespace fictl::attention {

namespace {

using Wide = WideDecode<Config>;
using Keys = Config::Keys;
// A block alone on an SM has 64 KiB in flight and takes some 1.1 us for them: 5 times its share of
// an H200's bandwidth, where three are on each; conversions make it less.
constexpr float kLastWave = 0.4f;
constexpr bool kOwnTables = std::is_same_v<Keys, OwnPagedKeys<Keys::Element>>;

// A tensor made here: of the launcher's own numbers, or another view of the caller's memory.
struct Made {
  int64_t shape[2];
  DLTensor tensor;

  Made(void* data, DLDevice device, int ndim, int64_t rows, int64_t columns)
      : shape{rows, columns}, tensor{data, device, ndim, kInt32, shape, nullptr, 0} {}
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
};

int64_t bytes_of(View x) { return x.numel() * x.dtype().bits / 8; }

// The rows of the page table as one list: from its first entry to its last.
int64_t entries_of(View pages) {
  if (pages.numel() == 0) return 0;
  return (pages.size(0) - 1) * pitch(pages, 0) + pages.size(1);
}

// Scales of blocks, which lie as the keys and the values that they are of.
struct Blocks {
  Unstacked tensor;
  const View* view;  // null where there are none

  Blocks(const View* x, View otherwise, int part)
      : tensor(x == nullptr ? otherwise : *x, part), view(x == nullptr ? nullptr : &tensor.view) {}
};

AttentionCall attention_call(const PlannedCall& call, View k, View v, const Blocks& of_k,
                             const Blocks& of_v, View none, const View* pages) {
  return {call.out,
          call.lse,
          call.q,
          k,
          v,
          pages,
          k.ndim() == 4 ? k.size(call.hnd ? 2 : 1) : 1,
          call.hnd,
          none,
          none,
          nullptr,
          nullptr,
          nullptr,
          call.mask,
          nullptr,
          call.sinks,
          call.scale_q,
          call.scale_k,
          call.scale_v,
          call.sm_scale,
          call.v_scale,
          0.0,
          call.window_left,
          call.mask == nullptr,
          1.0,
          1e4,
          nullptr,
          call.enable_pdl,
          0,
          "k_cache",
          "v_cache",
          of_k.view,
          of_v.view};
}

// The most keys of a request that its queries see, and the tiles of its rows.
template <typename C>
int64_t most_seen(const Problem<C>& problem, const Requests& requests) {
  return std::min<int64_t>(requests.keys, int64_t{problem.window_left} + requests.q_len);
}
template <typename C>
int64_t most_tiles(const Problem<C>& problem, const Requests& requests) {
  const int64_t rows = int64_t{requests.q_len} * problem.group.divisor();
  return device::ceil_div(rows, DecodeShape<C>::kRows);
}

// Items that a batch may have at most: parts shorter than kShortest are not made.
template <typename C>
int64_t most_items(const Problem<C>& problem, const Requests& requests) {
  const int64_t parts = device::ceil_div(most_seen(problem, requests), ShareOut::kShortest);
  return requests.count * most_tiles(problem, requests) * std::max<int64_t>(parts, 1);
}

// Places the counters and the partial results, and returns for how many parts there is room.
template <typename C>
int place_parts(const Launch& launch, const PlannedCall& call, int most, Problem<C>* problem) {
  constexpr int kRows = DecodeShape<C>::kRows;
  constexpr int64_t kSums = int64_t{kRows} * (kValueDimOf<C> + 1) * sizeof(float);
  const int64_t of_part = problem->kv_heads * kSums;
  const int64_t of_counter = int64_t{problem->kv_heads} * sizeof(int32_t);
  const int64_t left = bytes_of(call.parts) - call.reserved;
  const int64_t counted = call.reserved > 0 ? call.reserved : bytes_of(call.counters);
  const int64_t room = std::min(
      {int64_t{most}, left / of_part, std::min(counted, bytes_of(call.counters)) / of_counter});
  if (room < 2) {
    // Nothing can be split then, which would be slow and seem to be right.
    throw argument_error(ErrorKind::ValueError, launch.op, "workspace_buffer")
        << "has " << bytes_of(call.parts) << " bytes; " << call.reserved + 2 * of_part
        << " are the least for " << problem->kv_heads << " heads of keys, "
        << call.reserved + most * of_part << " the most that is used";
  }
  problem->partial_out = reinterpret_cast<float*>(call.parts.data<char>() + call.reserved);
  problem->partial_lse = problem->partial_out + room * kRows * problem->kv_heads * kValueDimOf<C>;
  return static_cast<int>(room);
}

// A call with the views that launchers make of its tensors.
struct Views {
  Made none;
  Made flat;  // the rows of the page table, one after another
  int64_t strides[2];
  View pages;
  Unstacked k, v;
  Blocks of_k, of_v;

  explicit Views(const PlannedCall& call)
      : none(nullptr, call.q.device(), 2, 0, 0),
        flat(call.pages.data<int32_t>(), call.pages.device(), 1, entries_of(call.pages), 0),
        strides{call.pages_apart, 1},
        pages(&flat.tensor),
        k(call.k, 0),
        v(call.v, 1),
        of_k(call.blocks_k, call.k, 0),
        of_v(call.blocks_v, call.v, 1) {
    if constexpr (kOwnTables) {
      flat.shape[1] = flat.shape[0];
      flat.shape[0] = 2;
      flat.tensor.ndim = 2;
      flat.tensor.strides = strides;
    }
  }

  AttentionCall attention(const PlannedCall& call) const {
    return attention_call(call, k.view, v.view, of_k, of_v, &none.tensor, &pages);
  }
};

Requests requests_of(const PlannedCall& call, int64_t keys) {
  Requests requests{};
  requests.count = static_cast<int>(call.pages.size(0));
  requests.kv_lens = call.kv_lens.data<const int32_t>();
  requests.q_starts = call.q_starts == nullptr ? nullptr : call.q_starts->data<const int32_t>();
  requests.q_len = static_cast<int>(call.q_len);
  requests.queries = static_cast<int>(call.q.size(0));
  requests.keys = static_cast<int>(keys);
  requests.pitch = static_cast<int>(pitch(call.pages, 0));
  return requests;
}

int64_t keys_of(const PlannedCall& call, int page_size) { return call.pages.size(1) * page_size; }

// The longest list of pages, and the most keys and queries, that an int32 counts.
void check_counts(const Launch& launch, const PlannedCall& call, int page_size) {
  constexpr int64_t kMost = INT_MAX - (1 << 20);
  const int64_t tokens = call.q.size(0) * call.q.size(1);
  if (std::max({entries_of(call.pages), keys_of(call, page_size), tokens}) > kMost) {
    throw argument_error(ErrorKind::ValueError, launch.op, "block_tables")
        << "has shape " << Shape{call.pages} << " for pages of " << page_size
        << ", and 'query' has " << Shape{call.q} << "; an int32 does not count that";
  }
}

template <typename C>
Problem<C> problem_of(const Launch& launch, const PlannedCall& call, const Views& views) {
  Problem<C> problem = attention_problem<C>(launch, views.attention(call));
  // Tables for many more pages than are in use are not asked for ahead of their lengths.
  constexpr int64_t kMostAhead = 1 << 16;
  if (entries_of(call.pages) > kMostAhead) problem.keys.page_count = 0;
  return problem;
}

// Shares out the work to `slots` blocks of each head of the keys, or to clusters of them; `whole`:
// a cluster for each request.
template <typename C>
cudaError_t attend(const Launch& launch, const PlannedCall& call, Problem<C> problem,
                   const Requests& requests, int slots, int cluster, bool whole = false) {
  using Tile = DecodeShape<C>;
  DecodeBatch batch{};
  batch.requests = requests;
  // Why so many: as many parts as for four waves of blocks, each tile's last one on top.
  const int room = place_parts(launch, call, 8 * slots, &problem);
  batch.sharing = {Tile::kRows, slots, std::max(Tile::kKeys * Tile::kWarps, 64), room, kLastWave};
  batch.counters = call.counters.data<int32_t>();
  batch.cluster = device::Divisor(cluster);
  batch.kv_heads = device::Divisor(std::max(problem.kv_heads, 1));
  batch.whole = whole;
  batch.blocks = whole ? requests.count * cluster : slots;
  if (cluster == 1 && !whole) {
    batch.blocks = static_cast<int>(std::min<int64_t>(slots, most_items(problem, requests)));
  }
  return PlannedDecode(problem, batch, launch.stream, launch.pdl && call.enable_pdl);
}

// Attends by clusters where few requests have enough of them: tells whether it did.
bool attend_in_clusters(const Launch& launch, const PlannedCall& call, const Views& views,
                        const Problem<Config>& problem, const Requests& requests) {
  const ClusterShape shape = planned_clusters<Config>(problem, requests, call.likely_keys);
  const ClusterShape of_wide = planned_clusters<Wide>(problem, requests, call.likely_keys);
  if (shape.cluster == 1 && of_wide.cluster == 1) return false;
  // Warps that have keys. Why wide blocks where there are as many: fewer blocks have to meet.
  const int warps = shape.cluster * DecodeShape<Config>::kWarps;
  const int of_wide_warps = of_wide.cluster * DecodeShape<Wide>::kWarps;
  const bool takes_wide = of_wide.cluster > 1 && (shape.cluster == 1 || of_wide_warps >= warps);
  const cudaError_t status =
      takes_wide ? attend(launch, call, problem_of<Wide>(launch, call, views), requests,
                          of_wide.blocks, of_wide.cluster)
                 : attend(launch, call, problem, requests, shape.blocks, shape.cluster);
  // A stream of a green context may have too few SMs of a GPC, of which nobody was asked.
  if (status == cudaErrorInvalidClusterSize || status == cudaErrorLaunchOutOfResources) {
    cudaGetLastError();
    return false;
  }
  CUDA_CHECK(launch, status);
  return true;
}

}  // namespace

void attend_planned(const Launch& launch, PlannedCall call) {
  const Views views(call);
  const Problem<Config> problem = problem_of<Config>(launch, call, views);
  const int page_size = problem.keys.page_size.divisor();
  check_counts(launch, call, page_size);
  const Requests requests = requests_of(call, keys_of(call, page_size));
  const bool limited = call.most_sms > 0 && call.most_sms < launch.sm_count;
  if (!limited && attend_in_clusters(launch, call, views, problem, requests)) return;
  using Tile = DecodeShape<Config>;
  const int sms = limited ? static_cast<int>(call.most_sms) : launch.sm_count;
  const int slots = std::max(sms * Tile::kBlocks / (Tile::kParts * problem.kv_heads), 1);
  // Why not where SMs are limited: more blocks than `slots` would run at once.
  const bool whole = (!limited || requests.count <= slots) && most_tiles(problem, requests) <= 1 &&
                     most_seen(problem, requests) <= ShareOut::kShortest;
  CUDA_CHECK(launch, attend(launch, call, problem, requests, slots, 1, whole));
}

}  // namespace fictl::attention
