// The work list of attention kernels. An item is a tile of queries and the keys that a block walks
// over for it, for every head of the keys. The host makes the list (plan.cuh). Kernels read nothing
// else of the batch's shape, so that one CUDA graph serves any lengths. Where heads differ in what
// they see (block_sparse.cuh), an item is for one head of the keys, whose number is its request.
//
// The query heads that share a head of the keys are packed into rows. For one head of the keys, row
// r of a request is its query r / group and, within the group, head r % group. So the keys are read
// once for the whole group.
//
// A tile whose keys are split over several items has partial results, one fp32 row for each of its
// rows and parts. A second kernel merges them (merge.cuh).
#pragma once

#include <stdint.h>

namespace fictl::attention {

struct alignas(16) Item {
  int32_t request;  // -1: none, the list is padded with these
  int32_t row;      // the tile's first
  int32_t q_start;  // of the request, among the tokens of all
  int32_t q_len;
  int32_t kv_start;  // of the request: its first token among those of all, or of its page indices
  int32_t kv_len;
  int32_t begin;  // the first position of the keys
  int32_t end;    // and one past the last
  int32_t
      partial;   // where the tile's rows begin among the partial ones; -1: it is the whole result
  int32_t mask;  // the byte at which the request's custom mask begins
  // Counts in the list's first item, for persistent kernels: tiles taken, and blocks that have
  // ended. Zero between launches.
  int32_t counts[2];
};

// The parts of a tile: the row r of part i is at partial + i * rows + r.
struct alignas(16) Merge {
  int32_t rows;  // of the tile; 0: none, the list is padded with these
  int32_t row;
  int32_t q_start;
  int32_t partial;
  int32_t parts;
  int32_t request;
  int32_t q_len;
  int32_t kv_len;
};

}  // namespace fictl::attention
