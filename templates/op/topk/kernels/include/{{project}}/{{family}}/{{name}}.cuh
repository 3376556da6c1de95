{% from "_macros/matrix_names.jinja" import host, kernel with context %}
{% from "_macros/comment.jinja" import comment %}
{% set x = inputs[0].name %}
{% set values, indices = outputs[0].name, outputs[1].name %}
// {{ name }}: the k largest elements of every row, the largest first, and their indices.
//
// Algorithm: an element and its index make an entry of 64 bits. Entries are in the order of their
// elements, NaN above all, and those of equal elements in the order of their indices, the first
// above: no two are equal, so that the same k are chosen in every run. A block has a row, and sorts
// one of up to 2048 elements in shared memory. Of a longer row, 2048 bins count the entries by
// their highest 11 bits; those from the bin of the k-th on are candidates. Where these are too many
// to sort, the next 11 bits of that bin's entries are counted, until there are few enough, which is
// mostly at once. A last pass over the row collects them.
//
// Traffic: a row is read from memory once, and from L1 or L2 in each further pass, mostly one.
//
// Tiling: a block of up to 1024 threads, with four vectors of 16 bytes each in flight, covers the
// latency of HBM. The bins and the entries to sort share 16 KiB, so that several blocks of short
// rows fit on an SM. A row has one block only: for few rows of a million elements, split them.
//
// Where a pointer, a pitch or the length of a row is not aligned to 16 bytes, a vector is one
// element.
#pragma once

#include <stdint.h>

#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/run_counter.cuh>
#include <fictl/device/scan.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/topk/key.cuh>
#include <fictl/topk/sort.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
namespace device = fictl::device;
{% endif %}
namespace ordered = fictl::topk;

constexpr int k{{ title }}Most = 2048;  // k, and entries that a block sorts
constexpr int k{{ title }}Vecs = 4;     // of a thread, in flight
constexpr int k{{ title }}Bits = 11;    // that are counted in one pass
constexpr int k{{ title }}Bins = 1 << k{{ title }}Bits;
constexpr int k{{ title }}LeastThreads = 128;
constexpr int k{{ title }}MostThreads = 1024;

// The arguments of a launch. Row strides (pitches) in elements.
template <typename T>
struct {{ title }}Args {
  T* {{ values }};
  int32_t* {{ indices }};
  const T* {{ x }};
  int64_t rows;
  int cols;
  int k;
  int64_t {{ values }}_pitch;
  int64_t {{ indices }}_pitch;
  int64_t {{ x }}_pitch;
};

// To choose by something else, as by magnitude, change the key: a greater one is chosen first.
template <typename T>
__device__ uint64_t {{ title }}Entry(T value, int index) {
  return static_cast<uint64_t>(ordered::key_of(value)) << 32 | ~static_cast<uint32_t>(index);
}

struct {{ title }}Storage {
  union {
    int bins[k{{ title }}Bins];
    uint64_t entries[k{{ title }}Most];
  };
  device::BlockScanStorage<int> scan;
  int bin;    // that of the k-th entry,
  int count;  // the entries in it,
  int above;  // and those in higher ones
};

// A row, shared by the threads of a block. Its start and its length are multiples of N.
template <typename T, int N>
class {{ title }}Row {
 public:
  __device__ {{ title }}Row(const T* row, int cols, {{ title }}Storage& storage)
      : row_(row), cols_(cols), storage_(storage) {}

  // Puts the candidates into storage, in any order, and returns their number.
  __device__ int collect(int k) {
    if (cols_ <= k{{ title }}Most) {
      each([&](uint64_t entry) { storage_.entries[~static_cast<uint32_t>(entry)] = entry; });
      return cols_;
    }
    const uint64_t least = least_candidate(k);
    if (threadIdx.x == 0) storage_.count = 0;
    __syncthreads();
    each([&](uint64_t entry) {
      if (entry >= least) storage_.entries[atomicAdd(&storage_.count, 1)] = entry;
    });
    __syncthreads();
    return storage_.count;
  }

 private:
  // Calls visit(entry) for the elements of this thread.
  template <typename Visit>
  __device__ void each(Visit visit) {
    const int step = static_cast<int>(blockDim.x) * N;
    for (int start = threadIdx.x * N; start < cols_; start += step * k{{ title }}Vecs) {
      device::Vec<T, N> vecs[k{{ title }}Vecs];
#pragma unroll
      for (int i = 0; i < k{{ title }}Vecs; ++i) {
        const int64_t at = start + int64_t{i} * step;
        if (at < cols_) vecs[i] = device::load_l1<N>(row_ + at);
      }
#pragma unroll
      for (int i = 0; i < k{{ title }}Vecs; ++i) {
        const int64_t at = start + int64_t{i} * step;
        if (at >= cols_) continue;
#pragma unroll
        for (int j = 0; j < N; ++j) visit({{ title }}Entry(vecs[i][j], static_cast<int>(at) + j));
      }
    }
  }

  // From here on there are at least k entries, and not too many to sort.
  __device__ uint64_t least_candidate(int k) {
    uint64_t chosen = 0;  // the bits above `shift`, of the k-th entry
    int shift = 64;
    int above = 0;
    while (true) {
      const int next = shift > k{{ title }}Bits ? shift - k{{ title }}Bits : 0;
      count(chosen, shift, next);
      find_bin(k - above);
      chosen = chosen << (shift - next) | static_cast<uint64_t>(storage_.bin);
      above += storage_.above;
      const int candidates = above + storage_.count;
      shift = next;
      __syncthreads();
      // No two entries are equal: with all of their bits, there are k.
      if (candidates <= k{{ title }}Most) return chosen << shift;
    }
  }

  // Counts the entries whose bits above `shift` are chosen, by their bits from `next` to there.
  __device__ void count(uint64_t chosen, int shift, int next) {
    for (int i = threadIdx.x; i < k{{ title }}Bins; i += blockDim.x) storage_.bins[i] = 0;
    __syncthreads();
    const uint64_t mask = (uint64_t{1} << (shift - next)) - 1;
    device::RunCounter counter(storage_.bins);
    each([&](uint64_t entry) {
      const bool is_of_it = shift == 64 || entry >> shift == chosen;
      if (is_of_it) counter.add(static_cast<int>(entry >> next & mask));
    });
    counter.flush();
    __syncthreads();
  }

  // Finds the bin with the entry that `wanted` - 1 are above.
  __device__ void find_bin(int wanted) {
    const int share = k{{ title }}Bins / static_cast<int>(blockDim.x);
    const int last = k{{ title }}Bins - 1 - static_cast<int>(threadIdx.x) * share;
    int mine = 0;
    for (int i = 0; i < share; ++i) mine += storage_.bins[last - i];
    int before = device::BlockScan<int>(storage_.scan, mine).before;
    if (before < wanted && before + mine >= wanted) {
      int bin = last;
      while (before + storage_.bins[bin] < wanted) before += storage_.bins[bin--];
      storage_.bin = bin;
      storage_.count = storage_.bins[bin];
      storage_.above = before;
    }
    __syncthreads();
  }

  const T* row_;
  int cols_;
  {{ title }}Storage& storage_;
};

template <typename T, int N>
{{ kernel("k" ~ title ~ "MostThreads") }}
  __shared__ {{ title }}Storage storage;
  const int64_t row = blockIdx.x;
  const T* {{ x }} = args.{{ x }} + row * args.{{ x }}_pitch;

  device::pdl_wait();
  device::pdl_trigger();
  const int count = {{ title }}Row<T, N>({{ x }}, args.cols, storage).collect(args.k);
  int size = 1;
  while (size < count) size *= 2;
  // Padding is below all entries.
  for (int i = count + threadIdx.x; i < size; i += blockDim.x) storage.entries[i] = 0;
  __syncthreads();
  ordered::sort_descending(storage.entries, size);
  for (int i = threadIdx.x; i < args.k; i += blockDim.x) {
    const auto index = static_cast<int32_t>(~static_cast<uint32_t>(storage.entries[i]));
    args.{{ indices }}[row * args.{{ indices }}_pitch + i] = index;
    args.{{ values }}[row * args.{{ values }}_pitch + i] = {{ x }}[index];
  }
}

// `k` is at most k{{ title }}Most and `cols`. `pdl`: use programmatic dependent launch where the GPU
// supports it.
{{ host("const " ~ title ~ "Args<T>& args") }}
  if (args.rows == 0 || args.k == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  bool aligned = args.cols % N == 0;
  aligned &= device::vec_aligned(args.{{ x }}) && args.{{ x }}_pitch % N == 0;

  int threads = k{{ title }}LeastThreads;
  const int64_t wanted = device::ceil_div(args.cols, aligned ? N : 1);
  while (threads < wanted && threads < k{{ title }}MostThreads) threads *= 2;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  config.block = dim3(threads);
  config.grid = dim3(args.rows);
  return aligned ? device::launch<{{ title }}Kernel<T, N>>(config, args)
                 : device::launch<{{ title }}Kernel<T, 1>>(config, args);
}

}  // namespace {{ project }}::{{ family }}
