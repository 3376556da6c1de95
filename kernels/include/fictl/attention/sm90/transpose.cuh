// The loader of keys and values of 8 bits for queries of 8 bits: a warpgroup copies keys to their
// stage, and values to a staging buffer, from which it transposes them. The product with the
// weights takes values of 8 bits along the keys alone.
//
// Rate: a stage of 128 values of 128 dims takes each warp 8 times an ldmatrix, four byte
// permutations and an stmatrix: some 100 issue slots of the 1024 clocks that its products take.
#pragma once

#include <fictl/attention/sm90/gather.cuh>
#include <fictl/device/hopper/proxy.cuh>
#include <fictl/device/hopper/transpose_bytes.cuh>

namespace fictl::attention::sm90 {

template <typename Tile>
class TransposingLoader {
  using Config = typename Tile::Config;
  using Transposed = device::TransposedBytes<Tile::kKeys, Tile::kValueDim>;
  static_assert(Tile::kValueDim == Tile::kPanelDims, "rows of values are one panel");
  static_assert(Tile::kStagingBuffers == 2, "one arrives while the other is transposed");

 public:
  static constexpr int kThreads = device::kWarpgroup;
  static constexpr int kArrivals = kThreads;

  __device__ TransposingLoader(Shared<Tile>& shared, const Problem<Config>& problem)
      : shared_(shared), rows_(problem, shared.loader.tables, static_cast<int>(threadIdx.x)) {}

  __device__ void begin(const Work& work) { rows_.begin(work); }
  __device__ void find(int) const {}
  __device__ int agree(int next) const { return sm90::agree(shared_, next); }

  // Begins to copy the values of the stage, too.
  __device__ __forceinline__ void keys(unsigned char* stage, device::Mbarrier& full, int first) {
    rows_.keys(first, [&](const auto* rows) {
      copy(stage, first, [&](int i) { return rows[i].key; });
      full.arrive_after_copies();
      copy(staging(copy_at_), first, [&](int i) { return rows[i].value; });
      device::copy_commit();
    });
    copy_at_ ^= 1;
  }

  __device__ __forceinline__ void values(unsigned char* stage, device::Mbarrier& full, int first) {
    if (rows_.has_more(first)) {
      device::copy_wait<1>();  // The stage before this one has been asked for since.
    } else {
      device::copy_wait<0>();
    }
    device::NamedBarrier{kProducerBarrier, kThreads}.sync();
    const int thread = static_cast<int>(threadIdx.x);
    Transposed::template run<kThreads / 32>(staging(read_at_), stage, thread / 32, thread % 32);
    read_at_ ^= 1;
    device::fence_async_shared();
    full.arrive();
  }

 private:
  __device__ unsigned char* staging(int at) const {
    return reinterpret_cast<unsigned char*>(shared_.loader.staging[at]);
  }

  template <typename From>
  __device__ __forceinline__ void copy(unsigned char* to, int first, From from) const {
    if (rows_.is_whole(first)) {
      copy_stage<Tile, Tile::kDim, true>(to, from);
    } else {
      copy_stage<Tile, Tile::kDim, false>(to, from);
    }
  }

  Shared<Tile>& shared_;
  StageRows<Tile> rows_;
  int copy_at_ = 0;
  int read_at_ = 0;
};

}  // namespace fictl::attention::sm90
