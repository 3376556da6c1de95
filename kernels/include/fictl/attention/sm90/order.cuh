// Order of work for a persistent grid: every block takes the next tile of a list that all share.
//
// Heads are in sections whose keys and values fit L2 together. Within one all items run, the
// heaviest first, each for the section's heads one after another:
//
//   section 0                     section 1
//   item 0: head 0 1 2 3          item 0: head 4 5 6 7
//   item 1: head 0 1 2 3          ...
//   ...
//
// The count of tiles taken lies in the list itself, in the padding of its first item, where the
// plan has put zeros. The last block sets it to zero again, for the next launch.
#pragma once

#include <fictl/attention/sm90/tile.cuh>
#include <fictl/attention/work.cuh>
#include <fictl/device/hopper/tile_order.cuh>

namespace fictl::attention::sm90 {

// Keys and values of a section. Of causal tiles, half of L2 and more: many heads have enough long
// tiles to begin with. Where all queries see all keys, tiles of a head read the same keys at the
// same time: with few heads at once, L2 serves several SMs by one read.
__device__ constexpr int section_bytes(bool causal) { return causal ? 32 << 20 : 4 << 20; }

// Items that name their heads, with kNamesHead, run as they come.
template <bool kNamesHead>
class WorkOrder {
 public:
  // `key_bytes`: of one head's key and value.
  __device__ WorkOrder(const Item* items, int item_count, int kv_heads, int key_bytes, bool causal)
      : items_(items), item_count_(item_count), kv_heads_(kNamesHead ? 1 : kv_heads) {
    // The first item is of the longest request.
    const int tokens = section_bytes(causal) / key_bytes;
    together_ = min(max(tokens / max(items[0].kv_len, 1), 1), kv_heads_);
    // Sections of even heads: 5 of 8 would leave one of 3.
    const int sections = (kv_heads_ + together_ - 1) / together_;
    together_ = (kv_heads_ + sections - 1) / sections;
  }

  __device__ int count() const { return item_count_ * kv_heads_; }

  __device__ Work work(int index) const {
    if constexpr (kNamesHead) return {without_counts(items_[index]), items_[index].request};
    const int tiles = item_count_ * together_;  // of a section
    const int first = index / tiles * together_;
    const int within = index % tiles;
    const int heads = min(together_, kv_heads_ - first);
    return {without_counts(items_[within / heads]), first + within % heads};
  }

 private:
  // Why not a copy of all: other blocks count while this one reads.
  __device__ static Item without_counts(const Item& from) {
    Item item = {};
    item.request = from.request;
    item.row = from.row;
    item.q_start = from.q_start;
    item.q_len = from.q_len;
    item.kv_start = from.kv_start;
    item.kv_len = from.kv_len;
    item.begin = from.begin;
    item.end = from.end;
    item.partial = from.partial;
    item.mask = from.mask;
    return item;
  }

  const Item* items_;
  int item_count_;
  int kv_heads_;
  int together_;
};

// By one thread of each block.
class WorkCursor {
 public:
  __device__ explicit WorkCursor(const Item* items)
      : counts_(const_cast<int32_t*>(items[0].counts)) {}

  // A block's first tile has its own number, so that nothing is waited for.
  __device__ int first() const { return static_cast<int>(blockIdx.x); }
  __device__ int next() const {
    return static_cast<int>(gridDim.x) + device::TileCursor{counts_}.take();
  }

  // After the block's last next().
  __device__ void leave() const {
    __threadfence();
    if (atomicAdd(counts_ + 1, 1) + 1 < static_cast<int>(gridDim.x)) return;
    __threadfence();
    counts_[0] = 0;
    counts_[1] = 0;
  }

 private:
  int32_t* counts_;  // tiles taken beyond the first ones, and blocks that take no more
};

}  // namespace fictl::attention::sm90
