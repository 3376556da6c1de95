// The loader of keys that bulk copies cannot bring, of pages of any size: a warpgroup copies their
// rows, chunk by chunk.
//
// Where a row starts is looked up once, by one thread, a stage before it is copied: in pages that
// is a chain of loads, whose time passes under the copies of the stage before.
#pragma once

#include <type_traits>

#include <fictl/attention/sm90/tile.cuh>
#include <fictl/attention/tile.cuh>
#include <fictl/device/copy.cuh>
#include <fictl/device/hopper/named_barrier.cuh>
#include <fictl/device/swizzle.cuh>

namespace fictl::attention::sm90 {

constexpr int kChunkBytes = device::kChunkBytes;
// The byte of a stage at which a chunk of a row begins; chunks are numbered across the panels.
template <typename Tile>
__device__ constexpr int stage_offset(int row, int chunk) {
  constexpr int kChunks = Tile::kRow / kChunkBytes;  // of a panel's row
  return chunk / kChunks * Tile::KeyLayout::kPanelBytes +
         device::swizzled<kChunks>(row, chunk % kChunks) * kChunkBytes;
}

// Begins to copy the rows of a stage, by a warpgroup: all threads of a panel's row at a time.
// `from(row)` is where a row starts; null makes it zero, unless kWhole.
template <typename Tile, int kDim, bool kWhole, typename From>
__device__ __forceinline__ void copy_stage(unsigned char* stage, From from) {
  using Element = typename Tile::Config::Keys::Element;
  constexpr int kChunks = Tile::kRow / kChunkBytes;
  constexpr int kElements = kChunkBytes / static_cast<int>(sizeof(Element));
  constexpr int kRowsAtOnce = device::kWarpgroup / kChunks;
  static_assert(Tile::kKeys % kRowsAtOnce == 0, "every thread has as many rows");
  const int chunk = static_cast<int>(threadIdx.x) % kChunks;
  const int first = static_cast<int>(threadIdx.x) / kChunks;
  unsigned char* to = stage + stage_offset<Tile>(first, chunk);
  constexpr int kPasses = Tile::kKeys / kRowsAtOnce;
  constexpr int kAtOnce = kPasses % 4 != 0 ? 1 : Tile::kFp8 ? 2 : 4;
  // Why apart: a copy would wait for the place of its row, and the next place for that copy.
#pragma unroll 1
  for (int i = 0; i < kPasses; i += kAtOnce) {
    const Element* rows[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) rows[j] = from(first + (i + j) * kRowsAtOnce);
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
#pragma unroll
      for (int panel = 0; panel < kDim / Tile::kPanelDims; ++panel) {
        void* place =
            to + panel * Tile::KeyLayout::kPanelBytes + (i + j) * kRowsAtOnce * Tile::kRow;
        const Element* source = rows[j] + panel * Tile::kPanelDims + chunk * kElements;
        if constexpr (kWhole) {
          device::copy_async(place, source);
        } else {
          device::copy_async(place, source, rows[j] == nullptr ? 0 : kChunkBytes);
        }
      }
    }
  }
}

// Where the rows of stages start, for a producer warpgroup. Stages come from the last one to the
// first: keys(first) of each, and values() of each after the keys of the next.
template <typename Tile>
class StageRows {
  using Config = typename Tile::Config;
  using Keys = typename Config::Keys;
  using Rows = KeyRows<Keys, Tile::kKeys>;
  using Table = StageTable<Tile>;
  static_assert(Tile::kKeys <= device::kWarpgroup, "a thread looks up one row");

 public:
  using Element = typename Keys::Element;

  __device__ StageRows(const Problem<Config>& problem, Table (&tables)[3], int thread)
      : problem_(problem), tables_(tables), thread_(thread) {}

  __device__ void begin(const Work& work) {
    begin_ = work.item.begin;
    end_ = work.item.end;
    start_ = work.item.kv_start;
    head_ = work.kv_head;
    is_first_ = true;
  }

  // Runs `copy(rows)` for the keys of the stage from `first` on, and looks up the next stage's rows
  // meanwhile.
  template <typename Copy>
  __device__ __forceinline__ void keys(int first, Copy copy) {
    if (is_first_) look_up(first).keep(tables_[key_slot_], thread_);
    is_first_ = false;
    // All have looked up this stage, and copied the values whose slot is the next one's.
    device::NamedBarrier{kProducerBarrier, device::kWarpgroup}.sync();
    const bool more = has_more(first);
    Found found{};
    if (more) found = look_up(first - Tile::kKeys);
    copy(tables_[key_slot_].rows.rows);
    advance(key_slot_);
    if (more) found.keep(tables_[key_slot_], thread_);
  }

  // The same for the values of the stage before the last one of keys().
  template <typename Copy>
  __device__ __forceinline__ void values(Copy copy) {
    copy(tables_[value_slot_].rows.rows);
    advance(value_slot_);
  }

  // The box of the stage whose keys, or values, are being copied.
  __device__ int key_box() const { return tables_[key_slot_].box; }
  __device__ int value_box() const { return tables_[value_slot_].box; }

  // Tells whether there are stages before the one from `first` on.
  __device__ bool has_more(int first) const { return first > begin_; }

  // Tells whether a stage from `first` on has all its rows.
  __device__ bool is_whole(int first) const { return first + Tile::kKeys <= end_; }

 private:
  struct Found {
    typename Rows::Row row;
    int box;

    __device__ void keep(Table& table, int thread) const {
      if (thread < Tile::kKeys) table.rows.rows[thread] = row;
      if (Tile::kRuns && thread == 0) table.box = box;
    }
  };

  __device__ Found look_up(int first) const {
    return {Rows::look_up(problem_.keys, start_, first + thread_, end_, head_), box_of(first)};
  }

  // By the first thread: the token from which on one run has all keys of the stage.
  __device__ int box_of(int first) const {
    if constexpr (Tile::kRuns) {
      if (thread_ == 0 && is_whole(first)) {
        const auto found = problem_.keys.find_in_run(start_, first);
        if (found.left >= Tile::kKeys) return found.token;
      }
    }
    return -1;
  }

  __device__ static void advance(int& slot) { slot = slot == 2 ? 0 : slot + 1; }

  const Problem<Config>& problem_;
  Table (&tables_)[3];
  int thread_;
  int key_slot_ = 0;
  int value_slot_ = 0;
  int begin_ = 0;
  int end_ = 0;
  int start_ = 0;
  int head_ = 0;
  bool is_first_ = true;
};

// Hands a number of the leading thread to all of a producer warpgroup.
template <typename Tile>
__device__ int agree(Shared<Tile>& shared, int number) {
  const device::NamedBarrier together{kProducerBarrier, device::kWarpgroup};
  if (threadIdx.x == 0) shared.loader.next = number;
  together.sync();
  const int agreed = shared.loader.next;
  together.sync();  // Why: the next number may come at once.
  return agreed;
}

// A loader as load.cuh describes them. Rows behind the last key become zero.
template <typename Tile>
class GatherLoader {
  using Config = typename Tile::Config;

 public:
  static constexpr int kThreads = device::kWarpgroup;
  static constexpr int kArrivals = kThreads;

  __device__ GatherLoader(Shared<Tile>& shared, const Problem<Config>& problem)
      : shared_(shared), rows_(problem, shared.loader.tables, static_cast<int>(threadIdx.x)) {}

  __device__ void begin(const Work& work) { rows_.begin(work); }
  __device__ void find(int) const {}
  __device__ int agree(int next) const { return sm90::agree(shared_, next); }

  __device__ __forceinline__ void keys(unsigned char* stage, device::Mbarrier& full, int first) {
    rows_.keys(first, [&](const auto* rows) {
      copy<Tile::kDim>(stage, full, first, [&](int i) { return rows[i].key; });
    });
  }
  __device__ __forceinline__ void values(unsigned char* stage, device::Mbarrier& full, int first) {
    rows_.values([&](const auto* rows) {
      copy<Tile::kValueDim>(stage, full, first, [&](int i) { return rows[i].value; });
    });
  }

 protected:
  template <int kDim, typename From>
  __device__ __forceinline__ void copy(unsigned char* stage, device::Mbarrier& full, int first,
                                       From from) const {
    if (rows_.is_whole(first)) {
      copy_stage<Tile, kDim, true>(stage, from);
    } else {
      copy_stage<Tile, kDim, false>(stage, from);
    }
    full.arrive_after_copies();
  }

  Shared<Tile>& shared_;
  StageRows<Tile> rows_;
};

}  // namespace fictl::attention::sm90
