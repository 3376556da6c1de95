// Rows of keys or of values that bulk copies cannot bring: of pages of any size, or of fewer bits
// than the products take. A warpgroup copies them chunk by chunk, from addresses that KeyRows has.
//
// A stage has panels of 64 columns of 16 bits, as tensor copies write them: kKeys rows of 128 bytes
// each, whose chunks are swizzled.
#pragma once

#include <fictl/attention/tile.cuh>
#include <fictl/device/copy.cuh>
#include <fictl/device/hopper/accumulator.cuh>
#include <fictl/device/widen.cuh>

namespace fictl::attention {

constexpr int kPanelRowBytes = 128;
constexpr int kPanelChunks = kPanelRowBytes / device::kChunkBytes;

// The byte of a stage at which a chunk of a row begins; chunks are numbered across the panels.
template <int kKeys>
__device__ constexpr int panel_offset(int row, int chunk) {
  return (chunk / kPanelChunks * kKeys + row) * kPanelRowBytes +
         (chunk % kPanelChunks ^ row % kPanelChunks) * device::kChunkBytes;
}

// Begins to copy the rows of a stage; `from(row)` is where a row starts. Unless `whole`, null makes
// a row zero. The 128 threads then arrive after their copies; readers of the stage call
// fence_async_shared() once it is full, before wgmma.
template <typename T, int kKeys, int kDim, typename From>
__device__ void gather_rows(unsigned char* stage, int thread, bool whole, From from) {
  constexpr int kRowsAtOnce = device::kWarpgroup / kPanelChunks;
  constexpr int kElements = device::kChunkBytes / static_cast<int>(sizeof(T));
  constexpr int kPanels = kDim / (kPanelChunks * kElements);
  static_assert(kKeys % kRowsAtOnce == 0, "every thread has as many rows");
  const int chunk = thread % kPanelChunks;
  const int first = thread / kPanelChunks;
  unsigned char* to = stage + panel_offset<kKeys>(first, chunk);
  const auto copy = [&](auto is_whole) {
#pragma unroll 4
    for (int i = 0; i < kKeys / kRowsAtOnce; ++i) {
      const T* row = from(first + i * kRowsAtOnce);
#pragma unroll
      for (int panel = 0; panel < kPanels; ++panel) {
        void* place = to + (panel * kKeys + i * kRowsAtOnce) * kPanelRowBytes;
        const T* source = row + (panel * kPanelChunks + chunk) * kElements;
        if constexpr (decltype(is_whole)::value) {
          device::copy_async(place, source);
        } else {
          device::copy_async(place, source, row == nullptr ? 0 : device::kChunkBytes);
        }
      }
    }
  };
  if (whole) {
    copy(std::true_type());
  } else {
    copy(std::false_type());
  }
}

// Rows of 8 bits on their way to a stage of 16: a thread converts the chunks that it has copied, so
// that its own wait for them is enough. Where they lie in between is nobody else's business.
template <typename From, typename To, int kKeys, int kDim>
class NarrowRows {
  static constexpr int kChunks = kDim / device::kChunkBytes;  // of a row
  static constexpr int kRowsAtOnce = device::kWarpgroup / kChunks;
  static constexpr int kPasses = kKeys / kRowsAtOnce;
  static_assert(sizeof(From) == 1 && sizeof(To) == 2, "from 8 bits to 16");
  static_assert(kChunks % 4 == 0 && device::kWarpgroup % (2 * kChunks) == 0 &&
                    kKeys % kRowsAtOnce == 0,
                "every thread has as many chunks");

 public:
  static constexpr int kBytes = kKeys * kDim;

  __device__ explicit NarrowRows(int thread) : thread_(thread) {}

  // Begins to copy; null makes a row zero.
  template <typename Row>
  __device__ void copy(uint4* staging, Row from) const {
#pragma unroll 4
    for (int i = 0; i < kPasses; ++i) {
      const From* row = from(this->row() + i * kRowsAtOnce);
      device::copy_async(staging + i * device::kWarpgroup + thread_,
                         row + chunk() * device::kChunkBytes,
                         row == nullptr ? 0 : device::kChunkBytes);
    }
  }

  // After the wait for the copies. Before wgmma reads the stage, each thread calls
  // fence_async_shared() and arrives.
  __device__ void widen(const uint4* staging, unsigned char* stage) const {
#pragma unroll 2
    for (int i = 0; i < kPasses; ++i) {
      uint4 wide[2];
      device::widen<To, From>(staging[i * device::kWarpgroup + thread_], wide);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int at = panel_offset<kKeys>(row() + i * kRowsAtOnce, 2 * chunk() + half);
        *reinterpret_cast<uint4*>(stage + at) = wide[half];
      }
    }
  }

 private:
  // Eight neighbouring threads have four chunks of each of two rows. Why: theirs go to even places
  // of the one and to odd ones of the other, all banks, by the swizzle of the rows.
  __device__ int chunk() const { return thread_ % 4 + thread_ / 8 % (kChunks / 4) * 4; }
  __device__ int row() const { return thread_ / 4 % 2 + thread_ / (2 * kChunks) * 2; }

  int thread_;
};

}  // namespace fictl::attention
