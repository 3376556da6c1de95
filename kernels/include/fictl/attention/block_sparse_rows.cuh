// The plan of a block-sparse matrix in rows (BSR) that all heads share: the lists of runs, the work
// list, and the bits of a mask within blocks. See block_sparse.cuh, which does it for masks.
//
// Algorithm: a warp a row of blocks lists its indices as runs. The list of a row begins where its
// indices do, one entry for each row before it further on. Then a thread makes an item, and a warp
// packs the bits of a row.
#pragma once

#include <fictl/attention/block_sparse.cuh>

namespace fictl::attention {

struct BlockRows {
  const int32_t* indptr;   // [row_blocks + 1]
  const int32_t* indices;  // [nnz]
  Run* lists;              // [nnz + row_blocks]
  PlanFault* fault;
  int64_t nnz;
  int heads;  // of the keys
  int row_blocks;
  int col_blocks;
  int block_rows;
  int block_cols;

  // True where the row's indices are within those that there are.
  __device__ bool holds(int row) const {
    return indptr[row] >= 0 && indptr[row] <= indptr[row + 1] && indptr[row + 1] <= nnz;
  }
  __device__ int blocks(int row) const { return indptr[row + 1] - indptr[row]; }
  __device__ int64_t list(int row) const { return int64_t{indptr[row]} + row; }
};

// A warp for each row of blocks. A row with an index beyond the blocks has no keys.
__global__ void __launch_bounds__(kPlanThreads) inline ListRowsKernel(const BlockRows rows) {
  device::pdl_wait();
  device::pdl_trigger();
  const int64_t at = int64_t{blockIdx.x} * kPlanWarps + threadIdx.x / device::kWarpSize;
  if (at >= rows.row_blocks) return;
  const int row = static_cast<int>(at);
  const bool is_first_lane = threadIdx.x % device::kWarpSize == 0;
  if (!rows.holds(row)) {
    if (is_first_lane) {
      rows.fault->report(PlanFault::kOffsets, rows.indptr[row], row, rows.indptr[row + 1],
                         rows.nnz);
    }
    return;
  }
  const int32_t* indices = rows.indices + rows.indptr[row];
  Run* list = rows.lists + rows.list(row);
  bool fits = true;
  const int64_t keys = list_runs(list, rows.blocks(row), [&](int i) -> BlockOfKeys {
    const int index = indices[i];
    if (index < 0 || index >= rows.col_blocks) {
      fits = false;
      rows.fault->report(PlanFault::kIndex, row, rows.indptr[row] + i, index, rows.col_blocks);
    }
    const bool goes_on = i > 0 && indices[i - 1] + 1 == index;
    return {index * rows.block_cols, rows.block_cols, true, goes_on};
  });
  if (keys > kMostTokens) {
    fits = false;
    if (is_first_lane) rows.fault->report(PlanFault::kTooLong, 0, row, keys, kMostTokens);
  }
  fits = __all_sync(0xffffffff, fits);
  if (is_first_lane && !fits) list[0] = ListOfRuns::counts(0, 0);
}

// The work list of the rows, for each head of the keys one after the other.
struct RowItems {
  Item* items;                 // [heads][row_blocks][tiles]
  const int64_t* mask_starts;  // [row_blocks]: the bytes at which masks begin; null: there are none
  int tiles;                   // of a row of blocks

  __host__ __device__ int64_t count(const BlockRows& rows) const {
    return int64_t{rows.heads} * rows.row_blocks * tiles;
  }
};

__global__ void __launch_bounds__(kPlanThreads) inline ShareRowsKernel(const BlockRows rows,
                                                                       const Tiling tiling,
                                                                       const RowItems list) {
  device::pdl_wait();
  device::pdl_trigger();
  const int64_t place = int64_t{blockIdx.x} * kPlanThreads + threadIdx.x;
  if (place >= list.count(rows)) return;
  const int64_t of_head = int64_t{rows.row_blocks} * list.tiles;
  const int head = static_cast<int>(place / of_head);
  const int row = static_cast<int>(place % of_head / list.tiles);
  Item item = no_item();
  if (rows.holds(row)) {
    const int64_t at = rows.list(row);
    item = tiling.item(head, static_cast<int>(place % list.tiles), row * rows.block_rows,
                       rows.block_rows, static_cast<int>(at), ListOfRuns::keys(rows.lists + at));
    if (list.mask_starts != nullptr) item.mask = static_cast<int>(list.mask_starts[row]);
  }
  list.items[place] = item;
}

// A warp for each row of blocks: the bits of its scores, (queries, keys), from a mask of bools.
__global__ void __launch_bounds__(kPlanThreads) inline PackRowsKernel(const BlockRows rows,
                                                                      const uint8_t* mask,
                                                                      const int64_t* starts,
                                                                      uint8_t* packed) {
  device::pdl_wait();
  device::pdl_trigger();
  const int64_t at = int64_t{blockIdx.x} * kPlanWarps + threadIdx.x / device::kWarpSize;
  if (at >= rows.row_blocks || !rows.holds(static_cast<int>(at))) return;
  const int row = static_cast<int>(at);
  const int64_t keys = int64_t{rows.blocks(row)} * rows.block_cols;
  const int64_t bits = keys * rows.block_rows;
  const uint8_t* own = mask + int64_t{rows.indptr[row]} * rows.block_rows * rows.block_cols;
  for (int64_t byte = threadIdx.x % device::kWarpSize; byte * 8 < bits; byte += device::kWarpSize) {
    unsigned value = 0;
    for (int i = 0; i < 8 && byte * 8 + i < bits; ++i) {
      const int64_t bit = byte * 8 + i;
      const int64_t key = bit % keys;
      const int64_t block = key / rows.block_cols;
      const int64_t from =
          (block * rows.block_rows + bit / keys) * rows.block_cols + key % rows.block_cols;
      value |= (own[from] != 0 ? 1u : 0u) << i;
    }
    packed[starts[row] + byte] = static_cast<uint8_t>(value);
  }
}

// Plans the rows. `mask` is null, or (nnz, block_rows, block_cols) to be packed.
inline cudaError_t PlanRows(const BlockRows& rows, const Tiling& tiling, const RowItems& list,
                            const uint8_t* mask, uint8_t* packed, cudaStream_t stream = nullptr,
                            bool pdl = false) {
  if (list.count(rows) == 0) return cudaSuccess;
  device::LaunchConfig config;
  config.grid = dim3(device::ceil_div(rows.row_blocks, kPlanWarps));
  config.block = dim3(kPlanThreads);
  config.stream = stream;
  config.pdl = pdl;
  cudaError_t status = device::launch<ListRowsKernel>(config, rows);
  if (status == cudaSuccess && mask != nullptr) {
    status = device::launch<PackRowsKernel>(config, rows, mask, list.mask_starts, packed);
  }
  if (status != cudaSuccess) return status;
  config.grid = dim3(device::ceil_div(list.count(rows), kPlanThreads));
  return device::launch<ShareRowsKernel>(config, rows, tiling, list);
}

}  // namespace fictl::attention
