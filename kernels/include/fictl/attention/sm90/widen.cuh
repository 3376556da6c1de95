// The loader of keys of 8 bits for queries of 16: a warpgroup copies them to a staging buffer and
// converts them to the tiles that all consumers read. No value is rounded, so results are those of
// a cache that was converted before.
//
// Rate: a stage of 128 keys of 128 dims is 32768 elements of keys and values, 256 a thread. To bf16
// each takes three instructions, one and a half of them of the unit for integers and bits: 850
// clocks of each of the SM's four schedulers, where the products of the stage take 2048. So one
// warpgroup is enough. To fp16 it is one conversion for two elements.
#pragma once

#include <type_traits>

#include <fictl/attention/sm90/gather.cuh>
#include <fictl/device/hopper/proxy.cuh>
#include <fictl/device/widen.cuh>

namespace fictl::attention::sm90 {

// Rows of 8 bits on their way to a stage of 16. A thread converts the chunks that it has copied, so
// that its own wait for them is enough; where they lie in between concerns nobody else.
template <typename Tile, int kDim>
class NarrowRows {
  using From = typename Tile::Config::Keys::Element;
  using To = typename Tile::Q;
  static constexpr int kChunks = kDim / kChunkBytes;  // of a row
  static constexpr int kRowsAtOnce = device::kWarpgroup / kChunks;
  static constexpr int kPasses = Tile::kKeys / kRowsAtOnce;
  // Chunks that are converted together, as many as there are registers for. Heads of 64 have other
  // addresses, and conversions to fp16 results, that take more.
  static constexpr int kAtOnce = std::is_same_v<To, __nv_bfloat16> && kDim > 64 ? 4 : 2;
  static_assert(kChunks % 4 == 0 && device::kWarpgroup % (2 * kChunks) == 0 &&
                    Tile::kKeys % (kAtOnce * kRowsAtOnce) == 0,
                "every thread has as many chunks");

 public:
  __device__ explicit NarrowRows(int thread) : thread_(thread) {}

  // Begins to copy; null makes a row zero.
  template <typename Row>
  __device__ __forceinline__ void copy(uint4* staging, bool is_whole, Row row) const {
    if (is_whole) {
      copy_all<true>(staging, row);
    } else {
      copy_all<false>(staging, row);
    }
  }

  // After the wait for the copies.
  __device__ __forceinline__ void widen(const uint4* staging, unsigned char* stage) const {
#pragma unroll 1
    for (int i = 0; i < kPasses; i += kAtOnce) {
      uint4 chunks[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) chunks[j] = staging[(i + j) * device::kWarpgroup + thread_];
      device::widen_all<To, From>(chunks, [&](int j, const uint4(&wide)[2]) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int at = stage_offset<Tile>(row() + (i + j) * kRowsAtOnce, 2 * chunk() + half);
          *reinterpret_cast<uint4*>(stage + at) = wide[half];
        }
      });
    }
  }

 private:
  template <bool kWhole, typename Row>
  __device__ __forceinline__ void copy_all(uint4* staging, Row from) const {
    // Why apart: a copy would wait for the place of its row, and the next place for that copy.
#pragma unroll 1
    for (int i = 0; i < kPasses; i += kAtOnce) {
      const From* starts[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) starts[j] = from(row() + (i + j) * kRowsAtOnce);
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        uint4* to = staging + (i + j) * device::kWarpgroup + thread_;
        if constexpr (kWhole) {
          device::copy_async(to, starts[j] + chunk() * kChunkBytes);
        } else {
          device::copy_async(to, starts[j] + chunk() * kChunkBytes,
                             starts[j] == nullptr ? 0 : kChunkBytes);
        }
      }
    }
  }

  // Eight neighbouring threads have four chunks of each of two rows. Why: by the swizzle theirs go
  // to the even places of one row and to the odd ones of the other, which are all banks.
  __device__ int chunk() const { return thread_ % 4 + thread_ / 8 % (kChunks / 4) * 4; }
  __device__ int row() const { return thread_ / 4 % 2 + thread_ / (2 * kChunks) * 2; }

  int thread_;
};

// The order in which loaders are asked for operands: keys of the last stage; for each stage before,
// its keys and the values of the one behind it; values of the first stage.
struct OperandOrder {
  int stages;

  __device__ int count() const { return 2 * stages; }
  __device__ bool is_keys(int i) const { return i == 0 || (i % 2 == 1 && i < count() - 1); }
  __device__ int stage(int i) const {
    if (is_keys(i)) return stages - 1 - (i + 1) / 2;
    return i == count() - 1 ? 0 : stages - i / 2;
  }
};

// A loader as load.cuh describes them. Copies are two operands ahead of the conversion.
template <typename Tile>
class WideningLoader {
  using Config = typename Tile::Config;
  static_assert(Tile::kDim == Tile::kValueDim, "keys and values take the same staging buffers");
  static constexpr int kAhead = Tile::kStagingBuffers - 1;

 public:
  static constexpr int kThreads = device::kWarpgroup;
  static constexpr int kArrivals = kThreads;

  __device__ WideningLoader(Shared<Tile>& shared, const Problem<Config>& problem)
      : shared_(shared),
        rows_(problem, shared.loader.tables, static_cast<int>(threadIdx.x)),
        narrow_(static_cast<int>(threadIdx.x)) {}

  __device__ void begin(const Work& work) {
    rows_.begin(work);
    begin_ = work.item.begin;
    order_ = {Stages::of<Tile>(work.item, {1, 0}).count};
    copied_ = 0;
    for (int i = 0; i < kAhead; ++i) copy_next();
  }

  __device__ void find(int) const {}
  __device__ int agree(int next) const { return sm90::agree(shared_, next); }

  __device__ __forceinline__ void keys(unsigned char* stage, device::Mbarrier& full, int) {
    deliver(stage, full);
  }
  __device__ __forceinline__ void values(unsigned char* stage, device::Mbarrier& full, int) {
    deliver(stage, full);
  }

 private:
  // Begins to copy the next operand, if there is one.
  __device__ __forceinline__ void copy_next() {
    if (copied_ < order_.count()) {
      const int first = begin_ + order_.stage(copied_) * Tile::kKeys;
      uint4* to = shared_.loader.staging[copy_at_];
      const bool is_whole = rows_.is_whole(first);
      if (order_.is_keys(copied_)) {
        rows_.keys(first, [&](const auto* rows) {
          narrow_.copy(to, is_whole, [&](int i) { return rows[i].key; });
        });
      } else {
        rows_.values([&](const auto* rows) {
          narrow_.copy(to, is_whole, [&](int i) { return rows[i].value; });
        });
      }
      advance(copy_at_);
    }
    ++copied_;
    device::copy_commit();
  }

  __device__ __forceinline__ void deliver(unsigned char* stage, device::Mbarrier& full) {
    copy_next();
    device::copy_wait<kAhead>();
    narrow_.widen(shared_.loader.staging[read_at_], stage);
    advance(read_at_);
    device::fence_async_shared();
    full.arrive();
  }

  __device__ static void advance(int& at) { at = at == Tile::kStagingBuffers - 1 ? 0 : at + 1; }

  Shared<Tile>& shared_;
  StageRows<Tile> rows_;
  NarrowRows<Tile, Tile::kDim> narrow_;
  OperandOrder order_{0};
  int begin_ = 0;
  int copied_ = 0;  // operands of the tile whose copies have begun
  int copy_at_ = 0;
  int read_at_ = 0;
};

}  // namespace fictl::attention::sm90
