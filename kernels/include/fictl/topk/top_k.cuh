// The k largest elements of every row: their values and indices, or their indices translated by a
// page table or an offset.
//
// Algorithm: a radix select on keys, which are the elements as integers of the same order. Of a
// sample of the row, which may be all of it, every thread keeps the largest of some stretches in
// registers. The k-th largest of these maxima, found by counting, is a bound that at least k
// elements reach and, as there are at least twice as many stretches as k, few more do. The others
// are collected in shared memory, where the exact k-th is found among some thousand entries instead
// of all elements. What does not fit there (rows with many equal elements at the bound, or rising
// ones; a k of many thousands) is counted in full, a pass for each of at most three ranges of keys,
// and then written in the order of the row by two more. Which elements are chosen is exact in
// either way, and of equal ones at the border those of the least (or greatest) indices: it does not
// depend on how many blocks there are, or on the way.
//
// Traffic: the row once from memory, and of the sample all but the last four vectors of a thread,
// which it has in registers, again from L2. A small k needs a sample of no more than these.
//
// Tiling: a block of up to 1024 threads has a row. Where there are fewer rows than SMs, up to eight
// blocks, a cluster, share one, a stretch of it each, and give what they collect to the first one,
// which ends the work. Where k is small for a block, each finds a bound of its own, and they meet
// once less. Why maxima are counted, and not all elements: 33 million atomics a call would take
// longer than memory.
#pragma once

#include <limits.h>

#include <fictl/topk/border.cuh>
#include <fictl/topk/plan.cuh>
#include <fictl/topk/sink.cuh>
#include <fictl/topk/sort.cuh>
#include <fictl/topk/window.cuh>

namespace fictl::topk {

// The order of what is written.
enum class Order { kAny, kIndex, kValue };

struct TopKOptions {
  int k;
  Order order;
  bool last_of_equals;  // not the first ones
  int capacity;         // as in the plan
  bool alone;
  int sample;
  bool counted;
};

// The work of a cluster's threads on one row.
template <typename T>
class TopKRow {
 public:
  struct Storage {
    Select::Storage select;
    int count;  // of this block's entries, then of those that are chosen
    int counts[device::kMostBlocksOfCluster];  // of all blocks' entries
    int totals[2];                             // above the border, and at it, of this block
    uint32_t least;                            // key of a thread's or
    uint32_t most;                             // key of an entry
    Range ranges[device::kMostBlocksOfCluster];
    device::BlockScanStorage<int> scan;
  };

  __device__ TopKRow(const TopKRows<T>& rows, const Sink<T>& sink, const TopKOptions& options,
                     Storage& storage, Entry* list)
      : window_(rows.window(row())),
        sink_(sink),
        options_(options),
        k_(options.k < window_.size() ? options.k : window_.size()),
        storage_(storage),
        list_(list),
        blocks_(device::Cluster::size()),
        rank_(device::Cluster::rank()) {
    const int64_t vecs = window_.vecs();
    const int64_t share = device::ceil_div(vecs, blocks_);
    first_ = static_cast<int>(share * rank_ < vecs ? share * rank_ : vecs);
    last_ = static_cast<int>(first_ + share < vecs ? first_ + share : vecs);
    batches_ = static_cast<int>(device::ceil_div(last_ - first_, batch_vecs()));
  }

  __device__ void run() {
    fill();
    if (k_ == window_.size() && options_.order != Order::kValue) return all();
    if (threadIdx.x == 0) {
      storage_.count = 0;
      storage_.least = kMostKey;
      storage_.most = 0;
    }
    // All blocks have started, and have cleared that, where they wait for it.
    device::Cluster::arrive();
    int before = 0;
    int total = INT_MAX;
    uint32_t least = kLeastKey;
    if (k_ <= options_.capacity && !options_.counted) {
      least = collect();
      total = share_counts(before);
    } else {
      device::Cluster::wait();
    }
    if (total <= options_.capacity) {
      gather(before);
      if (rank_ > 0) return;
      choose_from_list(total, least);
      if (options_.order == Order::kAny) return;
    } else {
      choose_from_row();
      if (options_.order != Order::kValue) return;
      device::Cluster::sync();
      if (rank_ > 0) return;
    }
    sort_and_put();
  }

 private:
  static constexpr int kVec = Window<T>::kVec;
  static constexpr int kBelow = KeyWord<T>::kBelow;
  static constexpr int kMaxima = Batch<T>::kVecs;

  __device__ int batch_vecs() const { return Batch<T>::kVecs * static_cast<int>(blockDim.x); }
  __device__ int thread() const { return rank_ * static_cast<int>(blockDim.x) + threadIdx.x; }
  __device__ int threads() const { return blocks_ * static_cast<int>(blockDim.x); }

  __device__ static int64_t row() { return blockIdx.x / device::Cluster::size(); }
  __device__ RowSink<T> sink() const { return RowSink<T>(sink_, row()); }

  // Fills places without an element.
  __device__ void fill() const {
    if (options_.k == k_) return;
    const RowSink<T> to = sink();
#pragma unroll 1
    for (int i = k_ + thread(); i < options_.k; i += threads()) to.put_none(i);
  }

  // In the order of the row.
  __device__ void all() const {
    const RowSink<T> to = sink();
#pragma unroll 1
    for (int i = thread(); i < window_.size(); i += threads()) {
      to.put(i, to.has_values() ? key_of(window_[i]) : 0, i);
    }
  }

  // The entries of this block's stretch from a bound on, which is returned: at least k elements of
  // the row reach it. They are counted, and those without room left out.
  __device__ uint32_t collect() {
    Batch<T> batch;
    uint32_t least = kLeastKey;
    const int sample = is_bounded() ? (options_.sample < batches_ ? options_.sample : batches_) : 0;
    if (sample > 0) {
      uint32_t maxima[kMaxima] = {};
#pragma unroll 1
      for (int i = 0; i < sample; ++i) {
        load(batch, i);
        add_maxima(batch, maxima);
      }
      device::Cluster::wait();
      least = bound(maxima);
    } else {
      device::Cluster::wait();
    }
    // Begins with the sample's last batch, which is there; ends with those that are read again.
#pragma unroll 1
    for (int i = 0; i < batches_; ++i) {
      const int at = (sample > 0 ? sample - 1 : 0) + i;
      if (i > 0 || sample == 0) load(batch, at < batches_ ? at : at - batches_);
      append(batch, least);
    }
    if (threadIdx.x < device::kWarpSize) append_edges(least);
    return least;
  }

  // True to search for a bound; otherwise all elements are entries. The same in all blocks.
  __device__ bool is_bounded() const {
    return window_.size() > options_.capacity || window_.vecs() >= 2 * int64_t{k_};
  }

  // The number of entries of all blocks; `before`: of those before this one.
  __device__ int share_counts(int& before) {
    __syncthreads();
    if (threadIdx.x < blocks_) {
      device::Cluster::at(storage_.counts, threadIdx.x)[rank_] = storage_.count;
    }
    device::Cluster::sync();
    int total = 0;
#pragma unroll
    for (int rank = 0; rank < device::kMostBlocksOfCluster; ++rank) {
      const int count = rank < blocks_ ? storage_.counts[rank] : 0;
      if (rank < rank_) before += count;
      total += count;
    }
    return total;
  }

  // The first block has the edges of the row, an element a thread.
  __device__ bool has_edge() const {
    return rank_ == 0 && threadIdx.x < static_cast<unsigned>(window_.edges());
  }

  __device__ void load(Batch<T>& batch, int i) const {
    batch.load(window_, first_ + i * batch_vecs(), last_);
  }

  __device__ static void add_maxima(Batch<T>& batch, uint32_t (&maxima)[kMaxima]) {
#pragma unroll
    for (int i = 0; i < Batch<T>::kElements; ++i) {
      const uint32_t key = batch.key(i);
      uint32_t& most = maxima[i / kVec];
      if (key > most) most = key;
    }
  }

  // A key that at least k elements reach, or that of all.
  __device__ uint32_t bound(const uint32_t (&maxima)[kMaxima]) {
    const int blocks = options_.alone ? 1 : blocks_;
    const Range range = range_of(maxima, blocks);
    Select select(storage_.select, blocks);
    const Selected found = select(
        [&](auto visit) {
#pragma unroll
          for (int i = 0; i < kMaxima; ++i) visit(maxima[i]);
        },
        range, k_, static_cast<int>(top_k_enough(k_)), kBelow);
    return found.count == 0 ? kLeastKey : found.least;
  }

  // Where the k-th of the maxima is if there are so many: from the least of the threads' greatest
  // on, where threads are as many. Why: among all keys those of usual numbers share few bins, and
  // threads wait for one another to count there.
  __device__ Range range_of(const uint32_t (&maxima)[kMaxima], int blocks) {
    uint32_t most = maxima[0];
    uint32_t least = maxima[0];
#pragma unroll
    for (int i = 1; i < kMaxima; ++i) {
      most = max(most, maxima[i]);
      if (maxima[i] != kNoKey) least = min(least, maxima[i]);
    }
    if (k_ <= blocks * static_cast<int>(blockDim.x)) least = most;
    if (least == kNoKey) least = kMostKey;
    const uint32_t warp_most = device::warp_max(most);
    const uint32_t warp_least = ~device::warp_max(~least);
    if (threadIdx.x % device::kWarpSize == 0) {
      atomicMax(&storage_.most, warp_most);
      atomicMin(&storage_.least, warp_least);
    }
    __syncthreads();
    if (blocks == 1) return {min(storage_.least, storage_.most), storage_.most};
    if (threadIdx.x < blocks) {
      device::Cluster::at(storage_.ranges, threadIdx.x)[rank_] = {storage_.least, storage_.most};
    }
    device::Cluster::sync();
    Range range{kMostKey, kLeastKey};
    for (int rank = 0; rank < blocks; ++rank) {
      range.least = min(range.least, storage_.ranges[rank].least);
      range.most = max(range.most, storage_.ranges[rank].most);
    }
    range.least = min(range.least, range.most);
    return range;
  }

  // Appends entries. Called by whole warps. Why a loop: most threads have no entry.
  __device__ void append(Batch<T>& batch, uint32_t least) {
    uint32_t hits = 0;
#pragma unroll
    for (int i = 0; i < Batch<T>::kElements; ++i) {
      if (batch.key(i) >= least) hits |= 1u << i;
    }
    if (!__any_sync(0xffffffff, hits != 0)) return;
    int at = reserve(__popc(hits));
#pragma unroll 1
    for (; hits != 0; hits &= hits - 1) {
      const int i = __ffs(hits) - 1;
      append(at++, batch.any_key(i), batch.index(window_, i));
    }
  }

  // Called by one warp.
  __device__ void append_edges(uint32_t least) {
    const int index = window_.edge(threadIdx.x);
    const uint32_t key = has_edge() ? key_of(window_[index]) : 0;
    const bool hit = key >= least;
    const int at = reserve(hit);
    if (hit) append(at, key, index);
  }

  __device__ void append(int at, uint32_t key, int index) {
    if (at < options_.capacity) list_[at] = Entry(key, index);
  }

  // Reserves places of the list, or of the result, for each thread of a warp.
  __device__ int reserve(int count) {
    const int lane = threadIdx.x % device::kWarpSize;
    const int until = device::warp_inclusive_sum(count);
    int start = 0;
    if (lane == device::kWarpSize - 1) start = atomicAdd(&storage_.count, until);
    return __shfl_sync(0xffffffff, start, device::kWarpSize - 1) + until - count;
  }

  // The entries of all blocks, in the list of the first.
  __device__ void gather(int before) {
    if (blocks_ == 1) return;
    if (rank_ > 0) {
      Entry* to = device::Cluster::at(list_, 0) + before;
      const int count = storage_.count;
      for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = list_[i];
    }
    device::Cluster::arrive();
    if (rank_ == 0) device::Cluster::wait();
  }

  // Finishes in the first block, from the list of `count` entries.
  __device__ void choose_from_list(int total, uint32_t least) {
    Selected selected{least, kMostKey, 0, total};
    uint32_t least_rank = 0;
    if (total > k_) {
      find_most(total);
      Select select(storage_.select, 1);
      selected = select_of_list(select, total, {least, storage_.most}, nullptr, k_);
      const Border border(selected, k_);
      if (border.is_wide) {
        const Range ranks{0, static_cast<uint32_t>(window_.size() - 1)};
        least_rank = select_of_list(select, total, ranks, &border, border.needed).least;
      }
    }
    const Border border(selected, k_);
    const auto chosen = [&](Entry entry) {
      return border.above(entry.key()) || (border.at(entry.key()) && rank(entry) >= least_rank);
    };
    if (threadIdx.x == 0) storage_.count = 0;
    __syncthreads();
    if (options_.order == Order::kAny) {
      put_chosen(total, chosen);
    } else if (total > k_) {
      keep(total, chosen);
    }
  }

  // The greatest key of the list, which threads have after the next barrier.
  __device__ void find_most(int total) {
    uint32_t most = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < total; i += blockDim.x) most = max(most, list_[i].key());
    most = device::warp_max(most);
    if (threadIdx.x % device::kWarpSize == 0) atomicMax(&storage_.most, most);
  }

  // The rank among equal elements: the first ones, or the last ones, have the greatest.
  __device__ uint32_t rank(Entry entry) const {
    const int index = entry.index();
    return static_cast<uint32_t>(options_.last_of_equals ? index : window_.size() - 1 - index);
  }

  // Selects from the list by keys, or by the ranks of the elements at a border.
  __device__ Selected select_of_list(Select& select, int total, Range range, const Border* border,
                                     int wanted) {
    return select(
        [&](auto visit) {
#pragma unroll 1
          for (int i = threadIdx.x; i < total; i += blockDim.x) {
            const Entry entry = list_[i];
            if (border == nullptr) {
              visit(entry.key());
            } else if (border->at(entry.key())) {
              visit(rank(entry));
            }
          }
        },
        range, wanted, wanted, border == nullptr ? kBelow : 0);
  }

  template <typename Chosen>
  __device__ void put_chosen(int total, Chosen chosen) {
    const RowSink<T> to = sink();
#pragma unroll 1
    for (int i = 0; i < total; i += blockDim.x) {
      const int mine = i + threadIdx.x;
      const Entry entry = mine < total ? list_[mine] : Entry(0);
      const bool is_chosen = mine < total && chosen(entry);
      const int at = reserve(is_chosen);
      if (is_chosen) to.put(at, entry.key(), entry.index());
    }
  }

  // At the start of the list, in any order. What is kept goes no further than it was.
  template <typename Chosen>
  __device__ void keep(int total, Chosen chosen) {
#pragma unroll 1
    for (int i = 0; i < total; i += blockDim.x) {
      const int mine = i + threadIdx.x;
      const Entry entry = mine < total ? list_[mine] : Entry(0);
      const bool is_chosen = mine < total && chosen(entry);
      __syncthreads();
      const int at = reserve(is_chosen);
      if (is_chosen) list_[at] = entry;
    }
    __syncthreads();
  }

  // The first k entries of the list.
  __device__ void sort_and_put() {
    int count = 1;
    while (count < k_) count *= 2;
    const bool by_index = options_.order == Order::kIndex;
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      const Entry entry = i < k_ ? list_[i] : Entry(0);
      list_[i] = by_index ? entry.turned() : entry;
    }
    __syncthreads();
    sort_descending(list_, count);
    const RowSink<T> to = sink();
#pragma unroll 1
    for (int i = threadIdx.x; i < k_; i += blockDim.x) {
      const Entry entry = by_index ? list_[i].turned() : list_[i];
      to.put(i, entry.key(), entry.index());
    }
  }

  // visit(keys, index of the first, a bit for each that there is), of a vector after the other of
  // this block's stretch, to which the edges of the row belong at its ends.
  template <typename Visit>
  __device__ void each_vector(Visit visit) {
    const int last = last_any();
#pragma unroll 1
    for (int start = first_any(); start < last; start += blockDim.x) {
      const int vec = start + static_cast<int>(threadIdx.x);
      uint32_t keys[kVec];
      uint32_t there = 0;
      if (vec < last) {
        auto x = window_.load_any(vec);
#pragma unroll
        for (int i = 0; i < kVec; ++i) {
          keys[i] = key_of(x[i]);
          if (window_.has(window_.index(vec) + i)) there |= 1u << i;
        }
      }
      visit(keys, window_.index(vec), there);
    }
  }
  __device__ int first_any() const { return rank_ == 0 ? -1 : first_; }
  __device__ int last_any() const { return rank_ + 1 == blocks_ ? window_.vecs() + 1 : last_; }

  // The border by counting all elements, and then what is chosen in the order of the row.
  __device__ void choose_from_row() {
    Select select(storage_.select, blocks_);
    const Selected selected = select(
        [&](auto visit) {
          each_vector([&](const uint32_t (&keys)[kVec], int, uint32_t there) {
#pragma unroll
            for (int i = 0; i < kVec; ++i) {
              if (there >> i & 1) visit(keys[i]);
            }
          });
        },
        {kLeastKey, kMostKey}, k_, k_, kBelow);
    const Border border(selected, k_);
    int above = 0;
    int at = 0;
    count_before(border, above, at);
    put_in_row_order(border, above, at);
  }

  // Counts the elements above the border, and at it, before this block's stretch.
  __device__ void count_before(const Border& border, int& above, int& at) {
    if (threadIdx.x < 2) storage_.totals[threadIdx.x] = 0;
    __syncthreads();
    int mine[2] = {0, 0};
    each_vector([&](const uint32_t (&keys)[kVec], int, uint32_t there) {
#pragma unroll
      for (int i = 0; i < kVec; ++i) {
        if (there >> i & 1) {
          mine[0] += border.above(keys[i]);
          mine[1] += border.at(keys[i]);
        }
      }
    });
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (mine[i] > 0) atomicAdd(&storage_.totals[i], mine[i]);
    }
    device::Cluster::sync();
#pragma unroll
    for (int rank = 0; rank < device::kMostBlocksOfCluster; ++rank) {
      if (rank >= rank_) continue;
      const int* there = device::Cluster::at(storage_.totals, rank);
      above += there[0];
      at += there[1];
    }
    device::Cluster::sync();  // Nobody reads this block's totals any more.
  }

  // `above` and `at`: as many as count_before() found.
  __device__ void put_in_row_order(const Border& border, int above, int at) {
    Entry* list = device::Cluster::at(list_, 0);
    const RowSink<T> sink = this->sink();
    each_vector([&](const uint32_t (&keys)[kVec], int index, uint32_t there) {
      int count = 0;
#pragma unroll
      for (int i = 0; i < kVec; ++i) {
        if (there >> i & 1) count += border.above(keys[i]) + (border.at(keys[i]) << 16);
      }
      const device::BlockScan scan(storage_.scan, count);
      int its_above = above + (scan.before & 0xffff);
      int its_at = at + (scan.before >> 16);
#pragma unroll
      for (int i = 0; i < kVec; ++i) {
        if ((there >> i & 1) == 0) continue;
        const bool is_above = border.above(keys[i]);
        const bool is_at = border.at(keys[i]);
        if (is_above || (is_at && is_needed(border, its_at))) {
          const int to = its_above + needed_before(border, its_at);
          if (options_.order == Order::kValue) {
            list[to] = Entry(keys[i], index + i);
          } else {
            sink.put(to, keys[i], index + i);
          }
        }
        its_above += is_above;
        its_at += is_at;
      }
      above += scan.total & 0xffff;
      at += scan.total >> 16;
      __syncthreads();  // Why: the next sums go to the same place.
    });
  }

  // Tells whether an element at the border is needed, by the number of those before it.
  __device__ bool is_needed(const Border& border, int before) const {
    return options_.last_of_equals ? before >= border.equals - border.needed
                                   : before < border.needed;
  }
  __device__ int needed_before(const Border& border, int before) const {
    if (!border.is_wide) return 0;
    if (!options_.last_of_equals) return before < border.needed ? before : border.needed;
    const int left_out = border.equals - border.needed;
    return before < left_out ? 0 : before - left_out;
  }

  Window<T> window_;
  const Sink<T>& sink_;
  const TopKOptions& options_;
  int k_;
  Storage& storage_;
  Entry* list_;
  int blocks_;
  int rank_;
  int first_;  // vectors of this block
  int last_;
  int batches_;
};

// gridDim.x / rows blocks, a cluster, for each row.
template <typename T>
__global__ void __launch_bounds__(kTopKThreads)
    TopKKernel(TopKRows<T> rows, Sink<T> sink, TopKOptions options) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ typename TopKRow<T>::Storage storage;
  device::pdl_wait();
  device::pdl_trigger();
  TopKRow<T>(rows, sink, options, storage, reinterpret_cast<Entry*>(shared)).run();
}

template <typename T>
cudaError_t TopK(const TopKRows<T>& rows, const Sink<T>& sink, int64_t count, int k, Order order,
                 bool last_of_equals, const TopKPlan& plan, cudaStream_t stream, bool pdl) {
  const TopKOptions options{k,          order,       last_of_equals, plan.capacity,
                            plan.alone, plan.sample, plan.counted};
  device::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(count * plan.blocks));
  config.block = dim3(plan.threads);
  config.cluster = dim3(plan.blocks);
  config.shared_bytes = plan.capacity * sizeof(Entry);
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<TopKKernel<T>>(config, rows, sink, options);
}

// Blocks that share a row: of a cluster, where the GPU has them.
template <typename T>
int top_k_blocks(TopKAlgorithm algorithm, int64_t rows, int cols, int sm_count) {
  if (algorithm == TopKAlgorithm::kFiltered) return 1;
  if (algorithm == TopKAlgorithm::kClusters) rows = 1;
  return device::blocks_a_row<TopKKernel<T>>(rows, cols, kTopKBlockElements, sm_count);
}

// 0 < k, of as many rows as `count`. Order::kValue is for k <= kTopKSortable. `pdl`: use
// programmatic dependent launch where the GPU supports it.
template <typename T>
cudaError_t TopK(const TopKRows<T>& rows, const Sink<T>& sink, int64_t count, int k, Order order,
                 bool last_of_equals, int sm_count, cudaStream_t stream = nullptr, bool pdl = false,
                 TopKAlgorithm algorithm = TopKAlgorithm::kAuto) {
  if (count == 0 || k == 0) return cudaSuccess;
  int shared_bytes;
  const cudaError_t status = top_k_shared_bytes(shared_bytes);
  if (status != cudaSuccess) return status;
  const int blocks = top_k_blocks<T>(algorithm, count, rows.cols, sm_count);
  TopKPlan plan = top_k_plan(count, blocks, rows.cols, Window<T>::kVec, k, sm_count, shared_bytes);
  plan.counted = algorithm == TopKAlgorithm::kCounted;
  return TopK(rows, sink, count, k, order, last_of_equals, plan, stream, pdl);
}

}  // namespace fictl::topk
