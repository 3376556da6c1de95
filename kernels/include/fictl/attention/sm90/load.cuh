// The producer of prefill: it fills stages of keys and values, and the queries.
//
// A loader fills one stage of keys, and one of values, whichever way the keys lie in memory:
//
//   kThreads                    of the producer's warpgroup that call it
//   kArrivals                   that complete `full`
//   begin(work)                 another tile of work
//   find(first)                 looks up where the keys from position `first` on are; their stage
//                               may still be in use. Their keys() follow, and after the next
//                               find() their values(); at the end there is one find() more
//   keys(stage, full, first)    the stage's keys, which are from position `first` on; `full` is
//                               complete when they are there
//   values(stage, full, first)
//
//   agree(next)                 the leading thread's number, for all of them
//
// BoxLoader is for keys that bulk copies can address: a box for each panel, or for each page.
// loader.cuh names the others.
#pragma once

#include <fictl/attention/sm90/maps.cuh>
#include <fictl/attention/sm90/order.cuh>
#include <fictl/attention/sm90/tile.cuh>
#include <fictl/device/hopper/bulk_copy.cuh>
#include <fictl/device/hopper/elect.cuh>
#include <fictl/device/launch.cuh>

namespace fictl::attention::sm90 {

// Tells the consumers, and the producer's other threads, what the next tile of work is. It stays
// where it is until the consumers have done it, and longer than the producer needs it.
template <typename Loader, typename Tile>
__device__ const Work& announce(Shared<Tile>& shared, device::RingPosition<2>& at, const Work& work,
                                bool leads) {
  Work& place = shared.works[at.stage];
  shared.work_ring.wait_empty(at);
  if (leads) {
    place = work;
    shared.work_ring.full[at.stage].arrive();
  }
  if (Loader::kThreads > 32 && threadIdx.x >= 32) shared.work_ring.wait_full(at);
  __syncwarp();
  at.advance();
  return place;
}

template <typename Tile>
class BoxLoader {
  using Config = typename Tile::Config;

 public:
  static constexpr int kThreads = 32;
  static constexpr int kArrivals = 1;

  __device__ BoxLoader(const Problem<Config>& problem, const Loads& loads, const CUtensorMap& k_map,
                       const CUtensorMap& v_map)
      : problem_(problem), loads_(loads), k_map_(k_map), v_map_(v_map) {}

  __device__ void begin(const Work& work) {
    start_ = work.item.kv_start;
    kv_len_ = work.item.kv_len;
    kv_head_ = work.kv_head;
  }

  __device__ int agree(int next) const { return __shfl_sync(~0u, next, 0); }

  __device__ void find(int first) {
    value_box_ = key_box_;
    if (first >= 0) key_box_ = find_in(problem_.keys, first);
  }
  __device__ void keys(unsigned char* stage, device::Mbarrier& full, int first) const {
    load<typename Tile::KeyLayout>(problem_.keys, k_map_, stage, full, first, key_box_,
                                   loads_.key_head_panels);
  }
  __device__ void values(unsigned char* stage, device::Mbarrier& full, int first) const {
    load<typename Tile::ValueLayout>(problem_.keys, v_map_, stage, full, first, value_box_,
                                     loads_.value_head_panels);
  }

 private:
  static constexpr auto kHint = device::CacheHint::kEvictLast;

  // Box of a stage that a lane loads.
  struct Box {
    int page;  // -1: none
    int slot;
  };

  template <typename T>
  __device__ Box find_in(const RaggedKeys<T>&, int) const {
    return {};
  }
  // Lane j has box j. Boxes behind the last key stay what they were: nobody sees their keys, and
  // consumers make their values zero.
  template <typename T>
  __device__ Box find_in(const PagedKeys<T>& keys, int first) const {
    static_assert(Tile::kKeys / 8 <= 32, "a lane for each box");
    const int row = first_row();
    if (row >= min(kv_len_ - first, Tile::kKeys)) return {-1, 0};
    const device::Divisor::Result at = keys.page_size.divide(first + row);
    return {keys.pages[start_ + at.quotient], at.remainder};
  }

  __device__ int first_row() const { return static_cast<int>(threadIdx.x) % 32 * loads_.box_rows; }

  template <typename Layout, typename T>
  __device__ void load(const RaggedKeys<T>&, const CUtensorMap& map, unsigned char* stage,
                       device::Mbarrier& full, int first, Box, int) const {
    if (!device::elect_lane()) return;
    full.arrive_and_expect(Layout::kBytes);
#pragma unroll
    for (int panel = 0; panel < Layout::kPanels; ++panel) {
      device::load_tensor(stage + Layout::offset(0, panel), map, full, panel * kPanel, kv_head_,
                          start_ + first, kHint);
    }
  }

  template <typename Layout, typename T>
  __device__ void load(const PagedKeys<T>&, const CUtensorMap& map, unsigned char* stage,
                       device::Mbarrier& full, int, Box box, int head_panels) const {
    const int boxes = __popc(__ballot_sync(~0u, box.page >= 0));
    if (threadIdx.x % 32 == 0) {
      full.arrive_and_expect(Layout::kPanels * boxes * loads_.box_rows * kRowBytes);
    }
    __syncwarp();
    if (box.page < 0) return;
    if (head_panels > 0) {
      device::load_tensor(stage + Layout::offset(first_row(), 0), map, full, 0, 0,
                          kv_head_ * head_panels, box.slot / 8, box.page, kHint);
      return;
    }
#pragma unroll
    for (int panel = 0; panel < Layout::kPanels; ++panel) {
      device::load_tensor(stage + Layout::offset(first_row(), panel), map, full, panel * kPanel,
                          box.slot, kv_head_, box.page, kHint);
    }
  }

  const Problem<Config>& problem_;
  const Loads& loads_;
  const CUtensorMap& k_map_;
  const CUtensorMap& v_map_;
  int start_ = 0;
  int kv_len_ = 0;
  int kv_head_ = 0;
  Box key_box_ = {};
  Box value_box_ = {};
};

// Loads the queries of a tile, by one thread. Rows behind the request's are those of the next one:
// nobody stores their results.
template <typename Tile, typename Config>
__device__ void load_queries(unsigned char* to, const CUtensorMap& map, device::Mbarrier& full,
                             const Problem<Config>& problem, const Work& work, int tile_rows) {
  const int token = work.item.q_start + problem.group.divide(work.item.row).quotient;
  constexpr int kPanels = Tile::kDim / Tile::kPanelDims;
  full.arrive_and_expect(kPanels * tile_rows * Tile::kRow);
#pragma unroll
  for (int panel = 0; panel < kPanels; ++panel) {
    device::load_tensor(to + panel * Tile::kQueryPanel, map, full, panel * Tile::kPanelDims,
                        work.kv_head * problem.group.divisor(), token,
                        device::CacheHint::kEvictFirst);
  }
}

// The producer's warps: all loads of all tiles that the block takes. The first keys come before the
// queries, which wait until the tile before needs its own no more.
template <typename Tile, typename Loader, typename Config>
__device__ __forceinline__ void produce(Shared<Tile>& shared, const Problem<Config>& problem,
                                        const Loads& loads, const CUtensorMap& q_map,
                                        Loader& loader) {
  const bool leads = threadIdx.x == 0;
  device::RingPosition<2> work_at;
  device::RingPosition<1> query_at;
  device::RingPosition<Tile::kStages> key_at;
  device::RingPosition<Tile::kStages> value_at;
  device::pdl_wait();
  const WorkOrder<Config::Keys::kItemNamesHead> order(
      problem.items, problem.item_count, problem.kv_heads,
      (Tile::kDim + Tile::kValueDim) * static_cast<int>(sizeof(typename Config::Keys::Element)),
      problem.causal);
  const WorkCursor cursor(problem.items);
  int index = cursor.first();
  while (index < order.count()) {
    const int next = leads ? cursor.next() : 0;
    const Work taken = order.work(index);
    if (taken.item.request >= 0) {
      const Work& work = announce<Loader>(shared, work_at, taken, leads);
      loader.begin(work);
      const Stages stages = Stages::of<Tile>(work.item, loads);
      for (int i = 0; i <= stages.count; ++i) {
        const int stage = stages.count - 1 - i;
        loader.find(stages.first<Tile>(stage));
        if (stage >= 0) {
          shared.key_ring.wait_empty(key_at);
          loader.keys(shared.keys[key_at.stage], shared.key_ring.full[key_at.stage],
                      stages.first<Tile>(stage));
          key_at.advance();
        }
        if (i == 0) {
          if (leads) {
            shared.query_ring.wait_empty(query_at);
            load_queries<Tile>(shared.queries, q_map, shared.query_ring.full[0], problem, work,
                               loads.tile_rows);
          }
          query_at.advance();
          continue;
        }
        shared.value_ring.wait_empty(value_at);
        loader.values(shared.values[value_at.stage], shared.value_ring.full[value_at.stage],
                      stages.first<Tile>(stage + 1));
        value_at.advance();
      }
    }
    index = loader.agree(next);
  }
  announce<Loader>(shared, work_at, Work{{}, -1}, leads);
  if (leads) cursor.leave();
}

}  // namespace fictl::attention::sm90
