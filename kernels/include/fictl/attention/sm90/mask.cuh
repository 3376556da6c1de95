// Which keys the rows of a warpgroup see, and the masks of its scores.
#pragma once

#include <math.h>

#include <fictl/attention/problem.cuh>
#include <fictl/attention/row.cuh>
#include <fictl/attention/sm90/tile.cuh>
#include <fictl/attention/variant.cuh>

namespace fictl::attention::sm90 {

// Keys that a row sees of an item's, both ends included; none if last < first.
template <typename Config>
__device__ Span seen_by(const Problem<Config>& problem, const Item& item, int row) {
  const int query = problem.group.divide(item.row + row).quotient;
  if (query >= item.q_len) return {0, -1};  // behind the request's last
  const Span span = span_of(problem, item, query);
  return {max(span.first, item.begin), min(span.last, item.end - 1)};
}

// Keys that all rows of a warpgroup see: stages within them need no mask.
template <typename Config>
__device__ Span seen_by_all(const Problem<Config>& problem, const Item& item, int first_row) {
  // Rows behind the request's last are as good as its last.
  const int last_row = item.q_len * problem.group.divisor() - 1 - item.row;
  const Span lowest = seen_by(problem, item, min(first_row, last_row));
  const Span highest = seen_by(problem, item, min(first_row + device::kWgmmaM - 1, last_row));
  return {highest.first, lowest.last};
}

// The scores that a thread has: of two rows, and of two adjacent keys of every eight.
struct ThreadRows {
  int first;  // row of the warpgroup, in the tile

  // The thread's number in the warpgroup. Why anew each time: what follows from it would be kept in
  // registers that the products need.
  __device__ int thread() const {
    int thread = static_cast<int>(threadIdx.x);
    asm volatile("" : "+r"(thread));
    return thread % device::kWarpgroup;
  }
  __device__ int row(int half) const {
    return first + device::AccumulatorLayout{thread()}.row(2 * half);
  }
  __device__ int key() const { return device::AccumulatorLayout{thread()}.column(0); }
};

// Runs `body(score, key)` for a thread's scores of one row: the key from the thread's first one on.
template <int kCount, typename Body>
__device__ __forceinline__ void each_of_row(float (&scores)[kCount], int half, Body body) {
#pragma unroll
  for (int j = 0; j < kCount / 4; ++j) {
#pragma unroll
    for (int i = 0; i < 2; ++i) body(scores[4 * j + 2 * half + i], 8 * j + i);
  }
}

// Makes base-2 logits of scores, where the variant transforms them.
template <typename Config, int kCount>
__device__ __forceinline__ void transform(float (&scores)[kCount], const Problem<Config>& problem,
                                          const Work& work, ThreadRows rows, int first) {
  constexpr float kLog2E = 1.4426950408889634f;
  const int lane_key = rows.key();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    Place at = place_of(problem, work.item, rows.row(half), work.kv_head);
    each_of_row(scores, half, [&](float& score, int key) {
      at.key = first + lane_key + key;
      score = problem.variant.transform(score * problem.scale, at) * kLog2E;
    });
  }
}

// The variant's word of 64 keys for a row of the tile, whose keys the row sees in part.
template <typename Config>
__device__ uint64_t word_of(const Problem<Config>& problem, const Work& work, int row, int first) {
  const Span span = seen_by(problem, work.item, row);
  // The variant is asked about keys that there are alone.
  if (span.last < first || span.first > first + 63 || span.last < span.first) return 0;
  Place at = place_of(problem, work.item, row, work.kv_head);
  at.key = first;
  return problem.variant.words(at);
}

// Makes scores of keys beyond a row's borders -inf. `first`: the stage's first key.
template <typename Config, int kCount>
__device__ __forceinline__ void mask_borders(float (&scores)[kCount],
                                             const Problem<Config>& problem, const Work& work,
                                             ThreadRows rows, int first) {
  const int lane_key = rows.key();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const Span span = seen_by(problem, work.item, rows.row(half));
    const int low = span.first - first - lane_key;
    const bool any = span.first <= span.last;
    const unsigned range = any ? static_cast<unsigned>(span.last - span.first) : 0;
    each_of_row(scores, half, [&](float& score, int key) {
      if (!any || static_cast<unsigned>(key - low) > range) score = -INFINITY;
    });
  }
}

// The variant's words of a stage's keys, for a thread's rows. They are asked for a stage ahead,
// while products run: finding a word is a chain of loads and branches. The four threads that share
// rows load a word each, or two, and hand them on once the scores are there: of four words each,
// the chain of the second would wait for the load of the first.
template <int kKeys, typename Config>
class MaskWords {
  static constexpr bool kAny = Config::Variant::kWords;
  static constexpr int kOfRow = (kKeys + 63) / 64;
  static constexpr int kWords = 2 * kOfRow;
  static constexpr int kThreads = 4;
  static constexpr int kOwn = kAny ? (kWords + kThreads - 1) / kThreads : 1;

 public:
  // Asks for the words of the stage from `first` on, which may lie before all keys.
  __device__ __forceinline__ void load(const Problem<Config>& problem, const Work& work,
                                       ThreadRows rows, int first) {
    if constexpr (kAny) {
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        const int word = i * kThreads + rows.thread() % kThreads;
        next_[i] = ~uint64_t{0};
        if (kWords % kThreads != 0 && word >= kWords) continue;
        next_[i] = word_of(problem, work, rows.row(word / kOfRow), first + word % kOfRow * 64);
      }
    }
  }

  // The words that were asked for last are the next stage's.
  __device__ __forceinline__ void advance() {
    if constexpr (kAny) {
#pragma unroll
      for (int i = 0; i < kOwn; ++i) own_[i] = next_[i];
    }
  }

  __device__ __forceinline__ void mask(float (&scores)[kKeys / 2], ThreadRows rows) const {
    if constexpr (kAny) {
      uint64_t all = own_[0];
#pragma unroll
      for (int i = 1; i < kOwn; ++i) all &= own_[i];
      if (__all_sync(~0u, all == ~uint64_t{0})) return;
      const int lane_key = rows.key();
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        uint64_t words[kOfRow];
#pragma unroll
        for (int i = 0; i < kOfRow; ++i) {
          const int word = half * kOfRow + i;
          words[i] = __shfl_sync(~0u, own_[word / kThreads], word % kThreads, kThreads) >> lane_key;
        }
        each_of_row(scores, half, [&](float& score, int key) {
          if (!(words[key / 64] >> key % 64 & 1)) score = -INFINITY;
        });
      }
    }
  }

 private:
  uint64_t own_[kOwn];
  uint64_t next_[kOwn];
};

template <typename Config, int kCount>
__device__ __forceinline__ void mask_singly(float (&scores)[kCount], const Problem<Config>& problem,
                                            const Work& work, ThreadRows rows, int first) {
  const int lane_key = rows.key();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    Place at = place_of(problem, work.item, rows.row(half), work.kv_head);
    each_of_row(scores, half, [&](float& score, int key) {
      at.key = first + lane_key + key;
      if (score > -INFINITY && !keeps_singly(problem.variant, at)) score = -INFINITY;
    });
  }
}

}  // namespace fictl::attention::sm90
