// Keys: numbers as unsigned integers in the same order, to count and compare them.
//
// From the least: -inf, the negative numbers, zero, which is the same with either sign, the
// positive ones, +inf, and NaN, of whichever sign. The keys of 16-bit elements are the upper halves
// of ours, so that what counts keys is one kernel; two of them are made at a time.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#include <fictl/device/element.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::topk {

constexpr uint32_t kNoKey = 0;  // of no number
constexpr uint32_t kLeastKey = 1;
constexpr uint32_t kMostKey = 0xffffffff;

// The bits of +inf, for each type of 16 bits.
template <typename T>
struct Infinity;
template <>
struct Infinity<__half> {
  static constexpr uint32_t kBits = 0x7c00;
};
template <>
struct Infinity<__nv_bfloat16> {
  static constexpr uint32_t kBits = 0x7f80;
};

// A word of two elements or their keys.
template <typename T>
struct KeyWord {
  static constexpr int kElements = 2;
  static constexpr int kBelow = 16;  // bits of a key that are always 0

  // The keys of the elements of a word. Each sum is of magnitudes, and has its highest bit where a
  // magnitude is large enough: nothing carries over to the other.
  __device__ static uint32_t of(uint32_t bits) {
    constexpr uint32_t kSigns = 0x80008000;
    constexpr uint32_t kOnes = 0x00010001;
    const uint32_t magnitudes = bits & ~kSigns;
    const uint32_t not_zero = (magnitudes + 0x7fff * kOnes) & kSigns;
    const uint32_t nan = (magnitudes + (0x7fff - Infinity<T>::kBits) * kOnes) & kSigns;
    const uint32_t negative = bits & not_zero;
    return ((magnitudes | negative) ^ (filled(negative) | kSigns)) | filled(nan);
  }

  // The key of one of a word's elements.
  __device__ static uint32_t key(uint32_t keys, int i) {
    return i == 0 ? keys << kBelow : keys & 0xffff0000;
  }

 private:
  // All bits of each half whose sign is set.
  __device__ static uint32_t filled(uint32_t signs) { return (signs >> 15) * 0xffff; }
};

// The key of one element.
template <>
struct KeyWord<float> {
  static constexpr int kElements = 1;
  static constexpr int kBelow = 0;

  // Why a sum: it makes one zero of the two and, on a GPU, one NaN of all.
  __device__ static uint32_t of(uint32_t bits) {
    const float sum = __uint_as_float(bits) + 0.0f;
#if !defined(__CUDA_ARCH__)
    if (sum != sum) return kMostKey;
#endif
    const uint32_t made = __float_as_uint(sum);
    return made ^ (static_cast<uint32_t>(static_cast<int32_t>(made) >> 31) | 0x80000000);
  }

  __device__ static uint32_t key(uint32_t keys, int) { return keys; }
};

template <typename T>
__device__ uint32_t key_of(T x) {
  device::Vec<T, 1> vec{{x}};
  return KeyWord<T>::key(KeyWord<T>::of(vec.bits()), 0);
}

// The number, but that a zero is positive and a NaN is one of all.
template <typename T>
__device__ T value_of(uint32_t key) {
  const uint32_t bits = key & 0x80000000 ? key ^ 0x80000000 : ~key;
  device::Vec<T, 1> vec;
  vec.bits() = static_cast<typename device::Vec<T, 1>::Bits>(bits >> KeyWord<T>::kBelow);
  return vec[0];
}

// A key and an index below 2^31: of greater entries the key is greater or, of equal keys, the index
// is smaller. None is 0.
class Entry {
 public:
  Entry() = default;
  __device__ Entry(uint32_t key, int index)
      : bits_(static_cast<uint64_t>(key) << 32 | ~static_cast<uint32_t>(index)) {}
  __device__ explicit Entry(uint64_t bits) : bits_(bits) {}

  __device__ uint32_t key() const { return static_cast<uint32_t>(bits_ >> 32); }
  __device__ int index() const { return static_cast<int>(~static_cast<uint32_t>(bits_)); }

  // Inverts an index, so that of greater ones it is smaller. Twice gives the entry again.
  __device__ Entry turned() const { return Entry(bits_ << 32 | bits_ >> 32); }

  __device__ bool operator<(Entry other) const { return bits_ < other.bits_; }

 private:
  uint64_t bits_;
};

}  // namespace fictl::topk
