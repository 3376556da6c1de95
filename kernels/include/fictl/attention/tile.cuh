// Tiles in shared memory: rows of one head, in chunks of 16 bytes that are swizzled. Here they are
// filled, converted and rotated before the tensor cores read them. A row may have more columns than
// the head has elements: what is copied there is zero.
#pragma once

#include <stdint.h>

#include <type_traits>

#include <fictl/device/convert.cuh>
#include <fictl/device/copy.cuh>
#include <fictl/device/element.cuh>
#include <fictl/device/element_fp8.cuh>
#include <fictl/device/swizzle.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/rope/frequency.cuh>
#include <fictl/rope/rotate.cuh>

namespace fictl::attention {

template <typename T, int kColumns>
struct Tile {
  static constexpr int kChunks = kColumns * static_cast<int>(sizeof(T)) / device::kChunkBytes;
  static constexpr int kElementsPerChunk = device::kChunkBytes / static_cast<int>(sizeof(T));
  static constexpr int kRowBytes = kColumns * static_cast<int>(sizeof(T));

  char* shared;
  int start;  // in bytes, of whole rows

  __device__ T* chunk(int row, int chunk) const {
    return reinterpret_cast<T*>(shared + start + offset(row, chunk));
  }

  __device__ static int offset(int row, int chunk) {
    return device::swizzled<kChunks>(row, chunk) * device::kChunkBytes;
  }

  // The offset of a chunk that is an even number of chunks further in its row, from that of one of
  // the first two. Within the power of two that divides kChunks it is a XOR, beyond an addition.
  __device__ static int further(int offset, int chunks) {
    constexpr int kPower = kChunks & -kChunks;
    // Why not in short rows: a XOR with a constant is all that the kernels are measured with. In
    // long ones, whose places are many, an addition is a part of the load and takes no register.
    constexpr int kByXor = kChunks > 32 && kPower > 8 ? 8 : kPower;
    constexpr int kMask = kByXor * device::kChunkBytes - 1;
    const int bytes = chunks * device::kChunkBytes;
    return (offset ^ (bytes & kMask)) + (bytes & ~kMask);
  }

  // The vector of 8 elements from 8 * index on.
  __device__ T* vec8(int row, int index) const {
    constexpr int kVecs = kElementsPerChunk / 8;
    return chunk(row, index / kVecs) + index % kVecs * 8;
  }
};

// Where a lane points ldmatrix in tiles of 16-bit elements. A k step has 16 columns, an m block 16
// rows. Blocks differ by a constant.
template <typename T, int kColumns>
class Operand {
 public:
  // The lane's row and chunk in the tile's first step.
  __device__ Operand(int row, int chunk) : offset_(Tile<T, kColumns>::offset(row, chunk)) {}

  __device__ const void* at(Tile<T, kColumns> tile, int k_step, int m_block) const {
    return tile.shared + tile.start + Tile<T, kColumns>::further(offset_, 2 * k_step) +
           m_block * 16 * Tile<T, kColumns>::kRowBytes;
  }

 private:
  int offset_;
};

// Runs `body(row, chunk)` for the chunks of a tile that are this thread's of kThreads.
template <int kRows, int kChunks, int kThreads, typename Body>
__device__ void each_chunk(int thread, Body body) {
  if constexpr (kThreads % kChunks == 0 && kRows * kChunks % kThreads == 0) {
    // Every thread has the same chunk of as many rows.
    const int chunk = thread % kChunks;
#pragma unroll
    for (int i = 0; i < kRows * kChunks / kThreads; ++i) {
      body(thread / kChunks + i * (kThreads / kChunks), chunk);
    }
  } else {
#pragma unroll 2
    for (int i = thread; i < kRows * kChunks; i += kThreads) body(i / kChunks, i % kChunks);
  }
}

// Begins to copy rows of kElements. `from(row)` is where a row starts; null makes it zero.
template <int kRows, int kThreads, int kElements, typename T, int kColumns, typename From>
__device__ void copy_rows(Tile<T, kColumns> to, From from) {
  using To = Tile<T, kColumns>;
  const int thread = static_cast<int>(threadIdx.x);
  each_chunk<kRows, To::kChunks, kThreads>(thread, [&](int row, int chunk) {
    const T* start = from(row);
    const bool beyond = kElements < kColumns && chunk * To::kElementsPerChunk >= kElements;
    device::copy_async(to.chunk(row, chunk), start + chunk * To::kElementsPerChunk,
                       start == nullptr || beyond ? 0 : device::kChunkBytes);
  });
}

// The addresses of the rows of a stage's keys and values. One thread looks up one row, a stage
// before it is copied: in a paged cache the address takes a chain of loads, and many threads copy
// one row.
template <typename T>
struct alignas(16) KeyRow {
  const T* key;  // null: there is none
  const T* value;
};

// The same of keys that have scales.
template <typename T>
struct alignas(16) ScaledKeyRow {
  const T* key;
  const T* value;
  const uint8_t* key_scales;
  const uint8_t* value_scales;
};

template <typename Keys, typename = void>
constexpr bool kHasScales = false;
template <typename Keys>
constexpr bool kHasScales<Keys, std::void_t<decltype(Keys::k_scales)>> = true;

template <typename Keys, int kKeys>
struct KeyRows {
  using T = typename Keys::Element;
  using Row = std::conditional_t<kHasScales<Keys>, ScaledKeyRow<T>, KeyRow<T>>;
  Row rows[kKeys];

  // Where a position's rows start, that of values at `first_value`; there is none from `end` on.
  __device__ static Row look_up(const Keys& keys, int start, int position, int end, int head,
                                int first_value = 0) {
    if (position >= end) return {nullptr, nullptr};
    const auto at = keys.find(start, position);
    Row row{keys.key(at, head), keys.value(at, head) + first_value};
    if constexpr (kHasScales<Keys>) {
      row.key_scales = keys.key_scales(at, head);
      row.value_scales = keys.value_scales(at, head);
    }
    return row;
  }

  // Looks up the positions from `first` up to `end`; of values, those from `first_value` on. Other
  // threads see them after a barrier.
  __device__ void find(const Keys& keys, int start, int first, int end, int head, int first_value) {
    const int row = static_cast<int>(threadIdx.x);
    if (row < kKeys) rows[row] = look_up(keys, start, first + row, end, head, first_value);
  }
};

// Begins to copy rows that are all there.
template <int kRows, int kThreads, int kElements, typename T, int kColumns, typename From>
__device__ void copy_all_rows(Tile<T, kColumns> to, From from) {
  if constexpr (kElements < kColumns) {
    copy_rows<kRows, kThreads, kElements>(to, from);
  } else {
    using To = Tile<T, kColumns>;
    const int thread = static_cast<int>(threadIdx.x);
    each_chunk<kRows, To::kChunks, kThreads>(thread, [&](int row, int chunk) {
      device::copy_async(to.chunk(row, chunk), from(row) + chunk * To::kElementsPerChunk);
    });
  }
}

// Begins to copy a stage that has all its rows: kElements of keys, and kValues of values.
template <int kThreads, int kElements, int kValues, typename Keys, int kKeys, int kColumns,
          int kValueColumns>
__device__ void copy_keys(Tile<typename Keys::Element, kColumns> k,
                          Tile<typename Keys::Element, kValueColumns> v,
                          const KeyRows<Keys, kKeys>& from) {
  if constexpr (kElements == kColumns && kValues == kValueColumns && kColumns == kValueColumns) {
    using To = Tile<typename Keys::Element, kColumns>;
    const int thread = static_cast<int>(threadIdx.x);
    each_chunk<kKeys, To::kChunks, kThreads>(thread, [&](int row, int chunk) {
      const auto at = from.rows[row];
      device::copy_async(k.chunk(row, chunk), at.key + chunk * To::kElementsPerChunk);
      device::copy_async(v.chunk(row, chunk), at.value + chunk * To::kElementsPerChunk);
    });
  } else {
    copy_all_rows<kKeys, kThreads, kElements>(k, [&](int row) { return from.rows[row].key; });
    copy_all_rows<kKeys, kThreads, kValues>(v, [&](int row) { return from.rows[row].value; });
  }
}

// The same for a stage whose last rows may be missing. They become zero: a weight of 0 times what
// was there before could be NaN.
template <int kThreads, int kElements, int kValues, typename Keys, int kKeys, int kColumns,
          int kValueColumns>
__device__ void copy_last_keys(Tile<typename Keys::Element, kColumns> k,
                               Tile<typename Keys::Element, kValueColumns> v,
                               const KeyRows<Keys, kKeys>& from) {
  copy_rows<kKeys, kThreads, kElements>(k, [&](int row) { return from.rows[row].key; });
  copy_rows<kKeys, kThreads, kValues>(v, [&](int row) { return from.rows[row].value; });
}

// Converts rows to the type that the tensor cores take; `from` may have fewer bits. Tiles of one
// type may be the same tile. `thread` is one of the kThreads that do it.
template <int kRows, int kThreads, typename From, typename To, int kColumns>
__device__ void convert_rows(Tile<From, kColumns> from, Tile<To, kColumns> to, int thread) {
  constexpr int kVecs = kColumns / 8;
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

// The same, and rotates each row of kDim elements by its position. `turns` has what
// Frequencies::turns gives for each pair.
template <int kRows, int kThreads, int kDim, typename From, typename To, int kColumns,
          typename Position>
__device__ void rotate_rows(Tile<From, kColumns> from, Tile<To, kColumns> to, const double* turns,
                            Position position_of, int thread) {
  static_assert(kDim % 16 == 0, "halves of a row are whole vectors");
  constexpr int kVecs = kDim / 16;  // of a half
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
