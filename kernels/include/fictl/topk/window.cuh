// A range of a row with any start and end: aligned vectors, and edges of single elements before the
// first and after the last of them.
#pragma once

#include <math.h>

#include <fictl/device/divisor.cuh>
#include <fictl/device/indices.cuh>
#include <fictl/topk/key.cuh>

namespace fictl::topk {

template <typename T>
class Window {
 public:
  static constexpr int kVec = device::kVecBytes / sizeof(T);
  using Vec = device::Vec<T, kVec>;

  __device__ Window(const T* data, int size) : data_(data), size_(size) {
    const auto address = reinterpret_cast<uintptr_t>(data);
    const int head = static_cast<int>(-address % device::kVecBytes / sizeof(T));
    head_ = head < size ? head : size;
    vecs_ = (size - head_) / kVec;
  }

  __device__ int size() const { return size_; }
  __device__ int vecs() const { return vecs_; }

  // The index of a vector's first element. Vector -1 ends with the first edge, and the vector after
  // the last one starts with the second edge.
  __device__ int index(int vec) const { return head_ + vec * kVec; }

  __device__ T operator[](int i) const { return data_[i]; }

  __device__ Vec load(int vec) const { return device::load_l2<kVec>(data_ + index(vec)); }

  // Loads a vector, also of an edge. Elements outside of the window are -inf, and not read.
  __device__ Vec load_any(int vec) const {
    if (vec >= 0 && vec < vecs_) return load(vec);
    const int start = index(vec);
    Vec x;
#pragma unroll
    for (int i = 0; i < kVec; ++i) {
      x[i] = has(start + i) ? data_[start + i] : device::Element<T>::from_float(-INFINITY);
    }
    return x;
  }

  __device__ bool has(int i) const { return i >= 0 && i < size_; }

  // The elements of both edges, and where the i-th of them is.
  __device__ int edges() const { return size_ - vecs_ * kVec; }
  __device__ int edge(int i) const { return i < head_ ? i : i + vecs_ * kVec; }

 private:
  const T* data_;
  int size_;
  int head_;
  int vecs_;
};

// The number of elements of each row that count. A request may have several rows, its last queries:
// each of them has one token less than the next, and the last one has all of the request. An
// element stands for `ratio` tokens.
struct RowLengths {
  device::Indices of;  // of each request
  device::Divisor rows{1};
  device::Divisor ratio{1};

  __device__ int operator[](int64_t row) const {
    if (rows.divisor() == 1 && ratio.divisor() == 1) return of[row];
    const device::Divisor::Result at = rows.divide(static_cast<int>(row));
    const int tokens = of[at.quotient];
    const int before = rows.divisor() - 1 - at.remainder;
    // Why not the difference: it may be less than an int can be.
    return tokens > before ? ratio.divide(tokens - before).quotient : 0;
  }
};

// Rows of elements, and the range of each that counts.
template <typename T>
struct TopKRows {
  const T* data;
  int64_t pitch;
  int cols;
  device::Indices starts;  // where the elements of each row start; without, at 0
  RowLengths lengths;      // how many they are; without, all

  __device__ Window<T> window(int64_t row) const {
    const int start = starts.data == nullptr ? 0 : clamp(starts[row], cols);
    const int most = cols - start;
    const int size = lengths.of.data == nullptr ? most : clamp(lengths[row], most);
    return Window<T>(data + row * pitch + start, size);
  }

 private:
  __device__ static int clamp(int x, int most) { return x < 0 ? 0 : (x > most ? most : x); }
};

// The keys of four vectors of a thread; the vectors of a block's threads are adjacent. Why four: a
// block of 1024 threads has 64 KiB on their way from memory, which is enough to wait for its
// bandwidth alone, and as many registers left as everything else takes.
template <typename T>
class Batch {
 public:
  static constexpr int kVec = Window<T>::kVec;
  static constexpr int kVecs = 4;
  static constexpr int kElements = kVecs * kVec;

  // Loads the vectors from `first` up to `last`. From `last` on there are no keys.
  __device__ void load(const Window<T>& window, int first, int last) {
    first_ = first + static_cast<int>(threadIdx.x);
    typename Window<T>::Vec vecs[kVecs];
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      if (vec(i) < last) vecs[i] = window.load(vec(i));
    }
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const uint4 bits = vecs[i].bits();
      const uint32_t words[kVecWords] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
      for (int j = 0; j < kVecWords; ++j) {
        words_[i * kVecWords + j] = vec(i) < last ? KeyWord<T>::of(words[j]) : kNoKey;
      }
    }
  }

  __device__ uint32_t key(int i) const {
    return KeyWord<T>::key(words_[i / KeyWord<T>::kElements], i % KeyWord<T>::kElements);
  }

  // The same where the compiler does not know i. Why bits and no index: an array in registers has
  // none.
  __device__ uint32_t any_key(int i) const {
    uint32_t words[kWords];
#pragma unroll
    for (int j = 0; j < kWords; ++j) words[j] = words_[j];
    const int word = i / KeyWord<T>::kElements;
#pragma unroll
    for (int bit = kWordBits - 1; bit >= 0; --bit) {
      const uint32_t upper = 0 - static_cast<uint32_t>(word >> bit & 1);
#pragma unroll
      for (int j = 0; j < kWords / 2; ++j) {
        if (j < 1 << bit) words[j] ^= (words[j] ^ words[j + (1 << bit)]) & upper;
      }
    }
    return KeyWord<T>::key(words[0], i % KeyWord<T>::kElements);
  }

  // The index in the window of the batch's element i.
  __device__ int index(const Window<T>& window, int i) const {
    return window.index(vec(i / kVec)) + i % kVec;
  }

 private:
  static constexpr int kVecWords = device::kVecBytes / sizeof(uint32_t);
  static constexpr int kWordBits = 4;
  static constexpr int kWords = 1 << kWordBits;
  static_assert(kWords == kVecs * kVecWords, "a power of two");

  __device__ int vec(int i) const { return first_ + i * static_cast<int>(blockDim.x); }

  uint32_t words_[kWords];
  int first_;
};

}  // namespace fictl::topk
