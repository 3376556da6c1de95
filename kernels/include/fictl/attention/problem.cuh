// One call of attention: where its tensors are, what it does, and the work list of its blocks.
//
// Config is what a kernel is compiled for:
//   Q, O           the types of queries and outputs
//   Keys           RaggedKeys<KV>, PagedKeys<KV> or RunKeys<KV>
//   Variant        what happens to scores, see variant.cuh
//   kHeadDim       elements of a head of queries and keys: whole chunks of 16 bytes, up to 512
//   kValueDim      the same of values; may be left out where it is kHeadDim
//   kRows          of a tile of queries: 8 or 16 (decoding), 64 or 128
//   kKeys, kWarpRows   of prefill, see tile_shape.cuh; may be left out
//   kRope          queries and keys are rotated as they are loaded
#pragma once

#include <fictl/attention/keys.cuh>
#include <fictl/attention/run_keys.cuh>
#include <fictl/attention/work.cuh>
#include <fictl/device/divisor.cuh>
#include <fictl/rope/frequency.cuh>

namespace fictl::attention {

template <typename Config>
struct Problem {
  Heads<const typename Config::Q> q;
  typename Config::Keys keys;
  Heads<typename Config::O> out;
  float* lse;          // [tokens][heads], log2; null where nobody asks
  const float* sinks;  // [heads], logits of a key without a value; null where there are none
  float* partial_out;  // [partial rows][kv_heads][value dim]
  float* partial_lse;  // [partial rows][kv_heads]
  const Item* items;
  int item_count;
  const Merge* merges;
  int merge_count;
  int kv_heads;
  device::Divisor group{1};  // heads of queries to a head of keys
  float scale;               // of scores before the softmax, k's own included
  float v_scale;             // of the result
  int window_left;           // keys before the query's own that it sees; INT_MAX for all
  bool causal;               // keys after its own it does not see
  rope::Frequencies frequencies{0, 1.0, 1.0, {}};  // of the rotation, where Config has it
  typename Config::Variant variant;
};

// Share of a block: an item, for a head of the keys.
struct Share {
  int item;
  int kv_head;
};

template <typename Config>
__device__ Share share_of(const Problem<Config>& problem, int block) {
  if constexpr (Config::Keys::kItemNamesHead) {
    return {block, problem.items[block].request};
  } else {
    return {block / problem.kv_heads, block % problem.kv_heads};
  }
}

template <typename Config>
unsigned blocks_of(const Problem<Config>& problem) {
  const int heads = Config::Keys::kItemNamesHead ? 1 : problem.kv_heads;
  return static_cast<unsigned>(problem.item_count) * heads;
}

// The query's place among the keys is as if the queries were the last of them. What a row sees.
struct Span {
  int first;
  int last;

  __device__ bool holds(int position) const { return position >= first && position <= last; }
};

template <typename Config>
__device__ Span span_of(const Problem<Config>& problem, const Item& item, int query) {
  const int own = item.kv_len - item.q_len + query;
  // Why not from below 0: less a window of all keys that would be below the least integer.
  const int first = max(max(own, 0) - problem.window_left, 0);
  const int last = problem.causal && own < item.kv_len - 1 ? own : item.kv_len - 1;
  return {first, last};
}

}  // namespace fictl::attention
