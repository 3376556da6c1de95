// Tiles in shared memory: rows of one head, in chunks of 16 bytes that are swizzled. Here they are
// filled, converted and rotated before the tensor cores read them.
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
  static constexpr int kElementsPerChunk = device::kChunkBytes / static_cast<int>(sizeof(T));
  static constexpr int kRowBytes = kHeadDim * static_cast<int>(sizeof(T));

  char* shared;
  int start;  // in bytes, of whole rows

  __device__ T* chunk(int row, int chunk) const {
    return reinterpret_cast<T*>(shared + start + offset(row, chunk));
  }

  __device__ static int offset(int row, int chunk) {
    return device::swizzled<kChunks>(row, chunk) * device::kChunkBytes;
  }

  // The vector of 8 elements from 8 * index on.
  __device__ T* vec8(int row, int index) const {
    constexpr int kVecs = kElementsPerChunk / 8;
    return chunk(row, index / kVecs) + index % kVecs * 8;
  }
};

// Where a lane points ldmatrix in tiles of 16-bit elements. A k step has 16 columns, an m block 16
// rows. Steps differ by a XOR, and blocks by a constant.
template <typename T, int kHeadDim>
class Operand {
 public:
  // The lane's row and chunk in the tile's first step.
  __device__ Operand(int row, int chunk) : offset_(Tile<T, kHeadDim>::offset(row, chunk)) {}

  __device__ const void* at(Tile<T, kHeadDim> tile, int k_step, int m_block) const {
    constexpr int kStep = 2 * device::kChunkBytes;
    return tile.shared + tile.start + (offset_ ^ k_step * kStep) +
           m_block * 16 * Tile<T, kHeadDim>::kRowBytes;
  }

 private:
  int offset_;
};

// Begins to copy rows. `from(row)` is where a row starts; null makes it zero.
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
    device::copy_async(to.chunk(row, chunk), start + chunk * To::kElementsPerChunk,
                       start == nullptr ? 0 : device::kChunkBytes);
  }
}

// The addresses of the rows of a stage's keys and values. One thread looks up one row, a stage
// before it is copied: in a paged cache the address takes a chain of loads, and many threads copy
// one row.
template <typename Keys, int kKeys>
struct KeyRows {
  struct alignas(16) Row {
    const typename Keys::Element* key;  // null: there is none
    const typename Keys::Element* value;
  };
  Row rows[kKeys];

  // Where a position's rows start; there is none from `end` on.
  __device__ static Row look_up(const Keys& keys, int start, int position, int end, int head) {
    if (position >= end) return {nullptr, nullptr};
    const auto at = keys.find(start, position);
    return {keys.key(at, head), keys.value(at, head)};
  }

  // Looks up the positions from `first` up to `end`. Other threads see them after a barrier.
  __device__ void find(const Keys& keys, int start, int first, int end, int head) {
    const int row = static_cast<int>(threadIdx.x);
    if (row < kKeys) rows[row] = look_up(keys, start, first + row, end, head);
  }
};

// Begins to copy a stage that has all its rows.
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
    device::copy_async(k.chunk(row, chunk), at.key + chunk * To::kElementsPerChunk);
    device::copy_async(v.chunk(row, chunk), at.value + chunk * To::kElementsPerChunk);
  }
}

// The same for a stage whose last rows may be missing. They become zero: a weight of 0 times what
// was there before could be NaN.
template <int kThreads, typename Keys, int kKeys, int kHeadDim>
__device__ void copy_last_keys(Tile<typename Keys::Element, kHeadDim> k,
                               Tile<typename Keys::Element, kHeadDim> v,
                               const KeyRows<Keys, kKeys>& from) {
  copy_rows<kKeys, kThreads>(k, [&](int row) { return from.rows[row].key; });
  copy_rows<kKeys, kThreads>(v, [&](int row) { return from.rows[row].value; });
}

// Converts rows to the type that the tensor cores take; `from` may have fewer bits. Tiles of one
// type may be the same tile. `thread` is one of the kThreads that do it.
template <int kRows, int kThreads, typename From, typename To, int kHeadDim>
__device__ void convert_rows(Tile<From, kHeadDim> from, Tile<To, kHeadDim> to, int thread) {
  constexpr int kVecs = kHeadDim / 8;
#pragma unroll 1
  for (int i = thread; i < kRows * kVecs; i += kThreads) {
    const int row = i / kVecs;
    auto& held = *reinterpret_cast<device::Vec<From, 8>*>(from.vec8(row, i % kVecs));
    float values[8];
    device::to_float(held, values);
    *reinterpret_cast<device::Vec<To, 8>*>(to.vec8(row, i % kVecs)) =
        device::from_float<To>(values);
  }
}

// The same, and rotates each row by its position. `turns` has what Frequencies::turns gives for
// each pair.
template <int kRows, int kThreads, typename From, typename To, int kHeadDim, typename Position>
__device__ void rotate_rows(Tile<From, kHeadDim> from, Tile<To, kHeadDim> to, const double* turns,
                            Position position_of, int thread) {
  constexpr int kVecs = kHeadDim / 16;  // of a half
#pragma unroll 1
  for (int i = thread; i < kRows * kVecs; i += kThreads) {
    const int row = i / kVecs;
    const int index = i % kVecs;
    const int position = position_of(row);
    float first[8], second[8], cos[8], sin[8];
    device::to_float(*reinterpret_cast<device::Vec<From, 8>*>(from.vec8(row, index)), first);
    device::to_float(*reinterpret_cast<device::Vec<From, 8>*>(from.vec8(row, index + kVecs)),
                     second);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float2 angle = rope::Frequencies::at(position, turns[index * 8 + j]);
      cos[j] = angle.x;
      sin[j] = angle.y;
    }
    rope::rotate_halves(first, second, cos, sin);
    *reinterpret_cast<device::Vec<To, 8>*>(to.vec8(row, index)) = device::from_float<To>(first);
    *reinterpret_cast<device::Vec<To, 8>*>(to.vec8(row, index + kVecs)) =
        device::from_float<To>(second);
  }
}

}  // namespace fictl::attention
