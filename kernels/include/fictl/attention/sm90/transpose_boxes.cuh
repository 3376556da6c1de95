// The loader of keys and values of 8 bits, of tokens behind one another, for queries of 8 bits.
// Bulk copies bring keys to their stage, and values to a staging buffer, from which a warpgroup
// transposes them (transpose.cuh): one thread asks for both. A stage that goes on behind the
// request's last key is copied row by row.
//
// Rate: see transpose.cuh. Copied by all threads, a stage takes each of them 16 copies of 16 bytes,
// with a look-up of its row for each: as long as the products.
#pragma once

#include <fictl/attention/sm90/gather.cuh>
#include <fictl/device/hopper/bulk_copy.cuh>
#include <fictl/device/hopper/proxy.cuh>
#include <fictl/device/hopper/transpose_bytes.cuh>

namespace fictl::attention::sm90 {

// A loader as load.cuh describes them.
template <typename Tile>
class BoxTransposingLoader {
  using Config = typename Tile::Config;
  using Element = typename Config::Keys::Element;
  using Transposed = device::TransposedBytes<Tile::kKeys, Tile::kValueDim>;
  static_assert(Tile::kDim == Tile::kPanelDims && Tile::kValueDim == Tile::kDim,
                "rows of keys, and of values, are one panel");
  static constexpr int kBuffers = Tile::kStagingBuffers;
  static_assert(kBuffers == 2, "one arrives while the other is transposed");

 public:
  static constexpr int kThreads = device::kWarpgroup;
  static constexpr int kArrivals = kThreads;

  __device__ BoxTransposingLoader(Shared<Tile>& shared, const Problem<Config>& problem,
                                  const CUtensorMap& k_map, const CUtensorMap& v_map)
      : shared_(shared), problem_(problem), k_map_(k_map), v_map_(v_map) {}

  __device__ void begin(const Work& work) {
    start_ = work.item.kv_start;
    kv_len_ = work.item.kv_len;
    head_ = work.kv_head;
  }

  __device__ void find(int) const {}
  __device__ int agree(int next) const { return sm90::agree(shared_, next); }

  // Begins to bring the values of the stage, too.
  __device__ __forceinline__ void keys(unsigned char* stage, device::Mbarrier& full, int first) {
    bring(stage, full, k_map_, problem_.keys.k, first);
    // All have transposed what was in the buffer.
    device::NamedBarrier{kProducerBarrier, kThreads}.sync();
    bring(staging(arrives_), shared_.loader.staged[arrives_.stage], v_map_, problem_.keys.v, first);
    arrives_.advance();
  }

  __device__ __forceinline__ void values(unsigned char* stage, device::Mbarrier& full, int) {
    shared_.loader.staged[leaves_.stage].wait(leaves_.parity);
    const int thread = static_cast<int>(threadIdx.x);
    Transposed::template run<kThreads / 32, 2>(staging(leaves_), stage, thread / 32, thread % 32);
    leaves_.advance();
    // For the consumers' products, and for the copy that comes to the buffer next.
    device::fence_async_shared();
    full.arrive();
  }

 private:
  using Position = device::RingPosition<kBuffers>;

  __device__ unsigned char* staging(Position at) const {
    return reinterpret_cast<unsigned char*>(shared_.loader.staging[at.stage]);
  }

  // Begins to bring the rows of a stage. All threads arrive at `full`.
  __device__ __forceinline__ void bring(unsigned char* to, device::Mbarrier& full,
                                        const CUtensorMap& map, const Heads<const Element>& rows,
                                        int first) const {
    if (first + Tile::kKeys > kv_len_) {
      copy_stage<Tile, Tile::kDim, false>(to, [&](int row) {
        const int position = first + row;
        return position < kv_len_ ? rows.row(int64_t{start_} + position, head_) : nullptr;
      });
      device::copy_commit();
      device::copy_wait<0>();
      device::fence_async_shared();
      full.arrive();
    } else if (threadIdx.x != 0) {
      full.arrive();
    } else {
      full.arrive_and_expect(Tile::kKeyBytes);
      device::load_tensor(to, map, full, 0, head_, start_ + first, device::CacheHint::kEvictLast);
    }
  }

  Shared<Tile>& shared_;
  const Problem<Config>& problem_;
  const CUtensorMap& k_map_;
  const CUtensorMap& v_map_;
  int start_ = 0;
  int kv_len_ = 0;
  int head_ = 0;
  Position arrives_;
  Position leaves_;
};

}  // namespace fictl::attention::sm90
