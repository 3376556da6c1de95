// Keys of a query that are some of the tokens: runs of contiguous tokens, in a list for each row of
// blocks (block_sparse.cuh). Why runs and not tokens: rows of a mask of blocks of 64 would take 64
// times the memory, and a copy wants to know what is contiguous.
#pragma once

#include <fictl/attention/keys.cuh>

namespace fictl::attention {

// Contiguous tokens. The run of the next entry begins where this one ends, among the row's keys.
struct alignas(8) Run {
  int32_t position;  // of its first key among the row's keys
  int32_t token;     // that this key is
};

// A list's first entry counts: its runs, and their keys.
struct ListOfRuns {
  static constexpr int kFirst = 1;

  __device__ static int runs(const Run* list) { return list[0].position; }
  __device__ static int keys(const Run* list) { return list[0].token; }
  __device__ static Run counts(int runs, int keys) { return {runs, keys}; }
};

// `start` is the number of the item's list. Lists begin `pitch` entries apart.
template <typename T>
struct RunKeys {
  using Element = T;
  // Heads differ in what they see, so that an item is for one of them.
  static constexpr bool kItemNamesHead = true;

  Heads<const T> k;
  Heads<const T> v;
  const Run* lists;
  int64_t pitch;

  struct At {
    int64_t token;
  };

  // A position's token, and how many of its run's keys there are from there on.
  struct Found {
    int token;
    int left;
  };

  // Looks for the last run that begins at the position or before it.
  __device__ Found find_in_run(int start, int position) const {
    const Run* list = lists + start * pitch;
    int low = ListOfRuns::kFirst;
    int high = ListOfRuns::runs(list);
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      if (list[middle].position <= position) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    const Run run = list[low];
    const bool is_last = low == ListOfRuns::runs(list);
    const int end = is_last ? ListOfRuns::keys(list) : list[low + 1].position;
    return {run.token + (position - run.position), end - position};
  }
  __device__ At find(int start, int position) const { return {find_in_run(start, position).token}; }

  __device__ const T* key(At at, int head) const { return k.row(at.token, head); }
  __device__ const T* value(At at, int head) const { return v.row(at.token, head); }
};

}  // namespace fictl::attention
