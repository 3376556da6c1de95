// The loader of keys in runs (run_keys.cuh): a stage that lies in one run is brought by bulk
// copies, as any token may begin a box. Others are gathered, row by row.
#pragma once

#include <fictl/attention/sm90/gather.cuh>
#include <fictl/device/hopper/bulk_copy.cuh>

namespace fictl::attention::sm90 {

// A loader as load.cuh describes them.
template <typename Tile>
class RunLoader : public GatherLoader<Tile> {
  using Config = typename Tile::Config;
  using Gather = GatherLoader<Tile>;

 public:
  __device__ RunLoader(Shared<Tile>& shared, const Problem<Config>& problem,
                       const CUtensorMap& k_map, const CUtensorMap& v_map)
      : Gather(shared, problem), k_map_(k_map), v_map_(v_map) {}

  __device__ void begin(const Work& work) {
    Gather::begin(work);
    kv_head_ = work.kv_head;
  }

  __device__ __forceinline__ void keys(unsigned char* stage, device::Mbarrier& full, int first) {
    this->rows_.keys(first, [&](const auto* rows) {
      load<Tile::kDim, typename Tile::KeyLayout>(k_map_, stage, full, first, this->rows_.key_box(),
                                                 [&](int i) { return rows[i].key; });
    });
  }
  __device__ __forceinline__ void values(unsigned char* stage, device::Mbarrier& full, int first) {
    this->rows_.values([&](const auto* rows) {
      load<Tile::kValueDim, typename Tile::ValueLayout>(v_map_, stage, full, first,
                                                        this->rows_.value_box(),
                                                        [&](int i) { return rows[i].value; });
    });
  }

 private:
  template <int kDim, typename Layout, typename From>
  __device__ __forceinline__ void load(const CUtensorMap& map, unsigned char* stage,
                                       device::Mbarrier& full, int first, int token,
                                       From from) const {
    if (token < 0) {
      Gather::template copy<kDim>(stage, full, first, from);
    } else if (threadIdx.x != 0) {
      full.arrive();
    } else {
      full.arrive_and_expect(Layout::kBytes);
#pragma unroll
      for (int panel = 0; panel < kDim / kPanel; ++panel) {
        device::load_tensor(stage + Layout::offset(0, panel), map, full, panel * kPanel, kv_head_,
                            token, device::CacheHint::kEvictLast);
      }
    }
  }

  const CUtensorMap& k_map_;
  const CUtensorMap& v_map_;
  int kv_head_ = 0;
};

}  // namespace fictl::attention::sm90
