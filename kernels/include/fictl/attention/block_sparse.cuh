// The plan of attention to blocks of keys, made where the mask is: the runs of tokens that each row
// of blocks selects (run_keys.cuh), and the work list (work.cuh).
//
// Algorithm: a warp walks over the blocks of a row, 32 at a time. A ballot tells where runs begin,
// and prefix sums of the sizes tell where among the row's keys. Adjacent blocks become one run, so
// that a list has an entry for every second block at most. The lists of a mask lie one pitch apart,
// and no sum over all rows is needed. A block a head then shares out tiles of queries: prefix sums
// of the tiles of each row of blocks, and a bisection for each place of the list.
//
// Traffic: a byte of the mask for every block, and 8 bytes for every run. A mask of 1000 x 1000
// blocks a head takes some 10 us, most of which is latency.
//
// Nothing is read on the host. What does not fit is left out, and its first reason is written down
// (PlanFault) for the host to read later. Whatever the sizes and indices are, nothing beyond the
// lists is written, and attention to what is listed reads nothing beyond the keys.
#pragma once

#include <limits.h>
#include <stdint.h>

#include <fictl/attention/run_keys.cuh>
#include <fictl/attention/work.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/scan.cuh>

namespace fictl::attention {

constexpr int kPlanThreads = 256;
constexpr int kPlanWarps = kPlanThreads / device::kWarpSize;
constexpr int kSumThreads = 1024;
// Tokens of a head, and keys of a row: a tile's last row and the keys of a stage stay below 2^31.
constexpr int64_t kMostTokens = INT_MAX - 1024;

// Reason why a plan does not fit; `kind` is 0 where it does. The host reads it as five int64.
struct PlanFault {
  enum Kind {
    kNone,
    kRowSize,  // a size is negative
    kColSize,
    kRowSizes,  // the sizes of a head do not add up to the queries
    kColSizes,  // nor to the keys
    kTooLong,   // more than an int32 counts
    kOffsets,   // indptr falls, or goes beyond the indices
    kIndex,     // there is no such block of keys
  };
  unsigned long long kind;
  int64_t head;
  int64_t index;
  int64_t found;
  int64_t bound;

  // Keeps the reason of the first thread that reports one.
  __device__ void report(Kind why, int64_t at_head, int64_t at, int64_t seen, int64_t expected) {
    if (atomicCAS(&kind, 0ull, static_cast<unsigned long long>(why)) != 0) return;
    head = at_head;
    index = at;
    found = seen;
    bound = expected;
  }
};

// A block of keys that a row may select. `goes_on`: from the block before, which is selected too.
struct BlockOfKeys {
  int token;
  int length;
  bool is_selected;
  bool goes_on;
};

// Lists the runs of a row; called by a whole warp. `block_of(i)` is the i-th of `count` blocks.
// Returns the keys of the row.
template <typename BlockOf>
__device__ int64_t list_runs(Run* list, int count, BlockOf block_of) {
  const int lane = static_cast<int>(threadIdx.x) % device::kWarpSize;
  int runs = 0;
  int64_t keys = 0;
  for (int first = 0; first < count; first += device::kWarpSize) {
    BlockOfKeys own{};
    if (first + lane < count) own = block_of(first + lane);
    const bool begins = own.is_selected && !own.goes_on;
    const int64_t length = own.is_selected ? own.length : 0;
    const int64_t until = device::warp_inclusive_sum(length);
    const unsigned begun = __ballot_sync(0xffffffff, begins);
    if (begins) {
      const int before = __popc(begun & ((1u << lane) - 1));
      list[ListOfRuns::kFirst + runs + before] = {static_cast<int>(keys + until - length),
                                                  own.token};
    }
    runs += __popc(begun);
    keys += __shfl_sync(0xffffffff, until, device::kWarpSize - 1);
  }
  if (lane == 0) list[0] = ListOfRuns::counts(runs, static_cast<int>(keys));
  return keys;
}

// An item of a list whose place is not used.
__device__ inline Item no_item() { return {-1, 0, 0, 0, 0, 0, 0, 0, -1, 0, {0, 0}}; }

// Numbers that all items of a list share.
struct Tiling {
  int rows;   // of a tile
  int group;  // heads of queries to a head of keys
  bool causal;

  __host__ __device__ int64_t tiles(int64_t queries) const {
    return device::ceil_div(queries * group, rows);
  }

  // The item of a tile of the row of blocks, which sees no key that none of its queries sees.
  __device__ Item item(int head, int tile, int q_start, int q_len, int list, int keys) const {
    const int row = tile * rows;
    int end = keys;
    if (causal) {
      const int64_t most = int64_t{q_len} * group - 1;
      const int64_t last_row = most < row + rows - 1 ? most : row + rows - 1;
      const int64_t last = int64_t{keys} - q_len + last_row / group;
      end = static_cast<int>(last + 1 < 0 ? 0 : last + 1 < keys ? last + 1 : keys);
    }
    return {head, row, q_start, q_len, list, keys, 0, end, -1, 0, {0, 0}};
  }
};

// A mask of blocks whose sizes differ, one for each head of the keys.
struct BlockMask {
  const uint8_t* selected;   // [heads][row_blocks][col_blocks]
  const int32_t* row_sizes;  // [heads][row_blocks]
  const int32_t* col_sizes;  // [heads][col_blocks]
  int32_t* row_starts;       // [heads][row_blocks + 1]: where blocks begin; the last: all tokens,
  int32_t* col_starts;       // [heads][col_blocks + 1]  or -1 where the sizes make no sense
  Run* lists;                // [heads][row_blocks][pitch]
  PlanFault* fault;
  int heads;
  int row_blocks;
  int col_blocks;

  // Entries of a list: every second block may begin a run.
  __host__ __device__ int64_t pitch() const {
    return ListOfRuns::kFirst + device::ceil_div(col_blocks, 2);
  }
};

// blockIdx.x is the head; y is 0 for the rows, and 1 for the columns.
__global__ void __launch_bounds__(kSumThreads) inline SumSizesKernel(const BlockMask mask) {
  __shared__ device::BlockScanStorage<int64_t> storage;
  device::pdl_wait();
  device::pdl_trigger();
  const int64_t head = blockIdx.x;
  const bool of_rows = blockIdx.y == 0;
  const int count = of_rows ? mask.row_blocks : mask.col_blocks;
  const int32_t* sizes = (of_rows ? mask.row_sizes : mask.col_sizes) + head * count;
  int32_t* starts = (of_rows ? mask.row_starts : mask.col_starts) + head * (count + 1);
  const int thread = static_cast<int>(threadIdx.x);
  int64_t total = 0;
  bool fits = true;
  for (int first = 0; first < count; first += kSumThreads) {
    const int at = first + thread;
    const int size = at < count ? sizes[at] : 0;
    if (size < 0) {
      mask.fault->report(of_rows ? PlanFault::kRowSize : PlanFault::kColSize, head, at, size, 0);
    }
    const device::BlockScan scan(storage, static_cast<int64_t>(size));
    const int64_t start = total + scan.before;
    total += scan.total;
    if (start <= kMostTokens && start + size > kMostTokens) {
      mask.fault->report(PlanFault::kTooLong, head, at, start + size, kMostTokens);
    }
    const bool own = size >= 0 && start + size <= kMostTokens;
    if (at < count) starts[at] = own ? static_cast<int>(start) : 0;
    fits = __syncthreads_and(fits && own);
  }
  if (thread == 0) starts[count] = fits ? static_cast<int>(total) : -1;
}

// A warp for each row of blocks.
__global__ void __launch_bounds__(kPlanThreads) inline ListMaskKernel(const BlockMask mask) {
  device::pdl_wait();
  device::pdl_trigger();
  const int64_t row = int64_t{blockIdx.x} * kPlanWarps + threadIdx.x / device::kWarpSize;
  if (row >= int64_t{mask.heads} * mask.row_blocks) return;
  const uint8_t* selected = mask.selected + row * mask.col_blocks;
  const int32_t* sizes = mask.col_sizes + row / mask.row_blocks * mask.col_blocks;
  const int32_t* starts = mask.col_starts + row / mask.row_blocks * (mask.col_blocks + 1);
  list_runs(mask.lists + row * mask.pitch(), mask.col_blocks, [&](int i) -> BlockOfKeys {
    return {starts[i], sizes[i], selected[i] != 0, i > 0 && selected[i - 1] != 0};
  });
}

// Lists the runs of all rows: all that a plan can do without the tokens.
inline cudaError_t ListMask(const BlockMask& mask, cudaStream_t stream = nullptr,
                            bool pdl = false) {
  const int64_t rows = int64_t{mask.heads} * mask.row_blocks;
  if (mask.heads == 0) return cudaSuccess;
  device::LaunchConfig config;
  config.grid = dim3(mask.heads, 2);
  config.block = dim3(kSumThreads);
  config.stream = stream;
  config.pdl = pdl;
  const cudaError_t status = device::launch<SumSizesKernel>(config, mask);
  if (status != cudaSuccess || rows == 0) return status;
  config.grid = dim3(device::ceil_div(rows, kPlanWarps));
  config.block = dim3(kPlanThreads);
  return device::launch<ListMaskKernel>(config, mask);
}

// The work list of a mask: room for as many items of each head.
struct MaskItems {
  Item* items;           // [heads][room]
  int32_t* tile_starts;  // [heads][row_blocks]
  int room;
  int64_t queries;  // of a head
  int64_t keys;

  // Every row of blocks may have a tile that is not full.
  static int64_t room_for(const BlockMask& mask, const Tiling& tiling, int64_t queries) {
    return queries * tiling.group / tiling.rows + mask.row_blocks;
  }
};

// A block for each head.
__global__ void __launch_bounds__(kSumThreads) inline ShareMaskKernel(const BlockMask mask,
                                                                      const Tiling tiling,
                                                                      const MaskItems list) {
  __shared__ device::BlockScanStorage<int64_t> storage;
  device::pdl_wait();
  device::pdl_trigger();
  const int head = static_cast<int>(blockIdx.x);
  const int thread = static_cast<int>(threadIdx.x);
  const int32_t* starts = mask.row_starts + int64_t{head} * (mask.row_blocks + 1);
  int32_t* tile_starts = list.tile_starts + int64_t{head} * mask.row_blocks;
  const int queries = starts[mask.row_blocks];
  const int keys = mask.col_starts[int64_t{head} * (mask.col_blocks + 1) + mask.col_blocks];
  if (thread == 0 && queries != list.queries) {
    mask.fault->report(PlanFault::kRowSizes, head, 0, queries, list.queries);
  }
  if (thread == 0 && keys != list.keys) {
    mask.fault->report(PlanFault::kColSizes, head, 0, keys, list.keys);
  }
  const bool fits = queries == list.queries && keys == list.keys;
  int64_t total = 0;
  for (int first = 0; fits && first < mask.row_blocks; first += kSumThreads) {
    const int at = first + thread;
    const int64_t tiles = at < mask.row_blocks ? tiling.tiles(starts[at + 1] - starts[at]) : 0;
    const device::BlockScan scan(storage, tiles);
    if (at < mask.row_blocks) tile_starts[at] = static_cast<int>(total + scan.before);
    total += scan.total;
    __syncthreads();
  }
  for (int place = thread; place < list.room; place += kSumThreads) {
    Item item = no_item();
    if (place < total) {
      // The last row of blocks whose tiles begin here or before.
      int low = 0;
      int high = mask.row_blocks - 1;
      while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (tile_starts[middle] <= place) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      const int row = head * mask.row_blocks + low;
      item = tiling.item(head, place - tile_starts[low], starts[low], starts[low + 1] - starts[low],
                         row, ListOfRuns::keys(mask.lists + row * mask.pitch()));
    }
    list.items[int64_t{head} * list.room + place] = item;
  }
}

// Makes the work list once the tokens are known.
inline cudaError_t ShareMask(const BlockMask& mask, const Tiling& tiling, const MaskItems& list,
                             cudaStream_t stream = nullptr, bool pdl = false) {
  if (mask.heads == 0 || list.room == 0) return cudaSuccess;
  device::LaunchConfig config;
  config.grid = dim3(mask.heads);
  config.block = dim3(kSumThreads);
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<ShareMaskKernel>(config, mask, tiling, list);
}

}  // namespace fictl::attention
