// Tiles of rows of a head in shared memory, their chunks of 16 bytes swizzled: how they are filled,
// and what is done to them before the tensor cores read them.
#pragma once

#include <fictl/device/convert.cuh>
#include <fictl/device/copy.cuh>
#include <fictl/device/element.cuh>
#include <fictl/device/element_fp8.cuh>
#include <fictl/device/swizzle.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/rope/frequency.cuh>
#include <fictl/rope/rotate.cuh>

namespace fictl::attention {

template <typename T, int kHeadDim>
struct Tile {
  static constexpr int kChunks = kHeadDim * static_cast<int>(sizeof(T)) / device::kChunkBytes;
  static constexpr int kOfChunk = device::kChunkBytes / static_cast<int>(sizeof(T));
  static constexpr int kRowBytes = kHeadDim * static_cast<int>(sizeof(T));

  char* shared;
  int start;  // in bytes, of whole rows

  __device__ T* chunk(int row, int chunk) const {
    return reinterpret_cast<T*>(shared + start + offset(row, chunk));
  }

  __device__ static int offset(int row, int chunk) {
    return device::swizzled<kChunks>(row, chunk) * device::kChunkBytes;
  }

  // The eight elements from 8 * eighth on.
  __device__ T* eight(int row, int eighth) const {
    constexpr int kEights = kOfChunk / 8;
    return chunk(row, eighth / kEights) + eighth % kEights * 8;
  }
};

// Where a lane points ldmatrix in tiles of 16-bit elements, for a step of 16 columns: of steps, all
// that differs is a XOR, and of rows 16 further on a constant.
template <typename T, int kHeadDim>
class Operand {
 public:
  // The lane's row and chunk in the tile's first step.
  __device__ Operand(int row, int chunk) : offset_(Tile<T, kHeadDim>::offset(row, chunk)) {}

  __device__ const void* at(Tile<T, kHeadDim> tile, int step, int sixteen) const {
    constexpr int kStep = 2 * device::kChunkBytes;
    return tile.shared + tile.start + (offset_ ^ step * kStep) +
           sixteen * 16 * Tile<T, kHeadDim>::kRowBytes;
  }

 private:
  int offset_;
};

// Begins to copy rows: `from(row)` is where one starts, null for one that is to be zero.
template <int kRows, int kThreads, typename T, int kHeadDim, typename From>
__device__ void copy_rows(Tile<T, kHeadDim> to, From from) {
  using To = Tile<T, kHeadDim>;
  static_assert(kThreads % To::kChunks == 0 && kRows * To::kChunks % kThreads == 0,
                "every thread has the same chunk of as many rows");
  const int thread = static_cast<int>(threadIdx.x);
  const int chunk = thread % To::kChunks;
#pragma unroll
  for (int i = 0; i < kRows * To::kChunks / kThreads; ++i) {
    const int row = thread / To::kChunks + i * (kThreads / To::kChunks);
    const T* start = from(row);
    device::copy_async(to.chunk(row, chunk), start + chunk * To::kOfChunk,
                       start == nullptr ? 0 : device::kChunkBytes);
  }
}

// Where the rows of a stage's keys and values are, found by a thread each, a stage before they are
// copied: a row of a paged cache is the end of a chain of loads, and every row is copied by many
// threads.
template <typename Keys, int kKeys>
struct KeyRows {
  struct alignas(16) Row {
    const typename Keys::Element* key;  // null: there is none
    const typename Keys::Element* value;
  };
  Row rows[kKeys];

  // Of positions from `first` on, up to `end`. Others see it after a barrier.
  __device__ void find(const Keys& keys, int start, int first, int end, int head) {
    const int row = static_cast<int>(threadIdx.x);
    if (row >= kKeys) return;
    const int position = first + row;
    if (position < end) {
      const auto at = keys.find(start, position);
      rows[row] = {keys.key(at, head), keys.value(at, head)};
    } else {
      rows[row] = {nullptr, nullptr};
    }
  }
};

// Begins to copy a stage whose rows there are all.
template <int kThreads, typename Keys, int kKeys, int kHeadDim>
__device__ void copy_keys(Tile<typename Keys::Element, kHeadDim> k,
                          Tile<typename Keys::Element, kHeadDim> v,
                          const KeyRows<Keys, kKeys>& from) {
  using To = Tile<typename Keys::Element, kHeadDim>;
  static_assert(kThreads % To::kChunks == 0 && kKeys * To::kChunks % kThreads == 0,
                "every thread has the same chunk of as many rows");
  const int thread = static_cast<int>(threadIdx.x);
  const int chunk = thread % To::kChunks;
#pragma unroll
  for (int i = 0; i < kKeys * To::kChunks / kThreads; ++i) {
    const int row = thread / To::kChunks + i * (kThreads / To::kChunks);
    const auto at = from.rows[row];
    device::copy_async(k.chunk(row, chunk), at.key + chunk * To::kOfChunk);
    device::copy_async(v.chunk(row, chunk), at.value + chunk * To::kOfChunk);
  }
}

// The same of a stage of whose rows the last may be missing. They become zero, so that a
// weight of 0 leaves nothing of them.
template <int kThreads, typename Keys, int kKeys, int kHeadDim>
__device__ void copy_last_keys(Tile<typename Keys::Element, kHeadDim> k,
                               Tile<typename Keys::Element, kHeadDim> v,
                               const KeyRows<Keys, kKeys>& from) {
  copy_rows<kKeys, kThreads>(k, [&](int row) { return from.rows[row].key; });
  copy_rows<kKeys, kThreads>(v, [&](int row) { return from.rows[row].value; });
}

// Rows as tensor cores take them, of which `from` may be of fewer bits. Tiles of one type may be
// the same. `thread` is one of the kThreads that do it.
template <int kRows, int kThreads, typename From, typename To, int kHeadDim>
__device__ void convert_rows(Tile<From, kHeadDim> from, Tile<To, kHeadDim> to, int thread) {
  constexpr int kEights = kHeadDim / 8;
#pragma unroll 1
  for (int i = thread; i < kRows * kEights; i += kThreads) {
    const int row = i / kEights;
    auto& held = *reinterpret_cast<device::Vec<From, 8>*>(from.eight(row, i % kEights));
    float values[8];
    device::to_float(held, values);
    *reinterpret_cast<device::Vec<To, 8>*>(to.eight(row, i % kEights)) =
        device::from_float<To>(values);
  }
}

// The same, each row rotated by its position; `turns` has what Frequencies::turns gives for each
// pair.
template <int kRows, int kThreads, typename From, typename To, int kHeadDim, typename Position>
__device__ void rotate_rows(Tile<From, kHeadDim> from, Tile<To, kHeadDim> to, const double* turns,
                            Position position_of, int thread) {
  constexpr int kEights = kHeadDim / 16;  // of a half
#pragma unroll 1
  for (int i = thread; i < kRows * kEights; i += kThreads) {
    const int row = i / kEights;
    const int eighth = i % kEights;
    const int position = position_of(row);
    float first[8], second[8], cos[8], sin[8];
    device::to_float(*reinterpret_cast<device::Vec<From, 8>*>(from.eight(row, eighth)), first);
    device::to_float(*reinterpret_cast<device::Vec<From, 8>*>(from.eight(row, eighth + kEights)),
                     second);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float2 angle = rope::Frequencies::at(position, turns[eighth * 8 + j]);
      cos[j] = angle.x;
      sin[j] = angle.y;
    }
    rope::rotate_halves(first, second, cos, sin);
    *reinterpret_cast<device::Vec<To, 8>*>(to.eight(row, eighth)) = device::from_float<To>(first);
    *reinterpret_cast<device::Vec<To, 8>*>(to.eight(row, eighth + kEights)) =
        device::from_float<To>(second);
  }
}

}  // namespace fictl::attention
