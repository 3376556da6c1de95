// Keys and values of four bits as operands of decode.cuh: no tile of 16 bits, for which shared
// memory would be written and read four times as much.
//
// Products are of fp16, whatever the queries are: an element of e5m2 is one of e2m1, but for a
// factor, with its bits elsewhere, so that a few instructions make eight nibbles eight bytes, one
// makes two bytes a pair, and one multiplies the pair by the scale of its block, which makes
// exponents right, too. bf16 takes a quarter more. It costs queries of bf16 nothing: each row is
// scaled by a power of two to where fp16 holds what matters of it, and weights are closer to what
// they are.
#pragma once

#include <fictl/attention/fp4_keys.cuh>
#include <fictl/device/mma.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/widen.cuh>

namespace fictl::attention {

// Eight elements as four pairs of fp16: 0 and 2, 1 and 3, 4 and 6, 5 and 7.
__device__ inline void fp4_pairs(uint32_t eight, uint32_t factors, uint32_t (&pairs)[4]) {
  const uint32_t even = (eight << 4 & 0x80808080u) | (eight << 1 & 0x0e0e0e0eu);
  const uint32_t odd = (eight & 0x80808080u) | (eight >> 3 & 0x0e0e0e0eu);
  const uint2 evens = device::widened<__half, __nv_fp8_e5m2>(even);
  const uint2 odds = device::widened<__half, __nv_fp8_e5m2>(odd);
  pairs[0] = times<__half>(evens.x, factors);
  pairs[1] = times<__half>(odds.x, factors);
  pairs[2] = times<__half>(evens.y, factors);
  pairs[3] = times<__half>(odds.y, factors);
}

// Four elements of each of two rows, reordered so that a pair has one of each.
__device__ inline uint32_t fp4_of_two_rows(uint32_t eight) { return __byte_perm(eight, 0, 0x3120); }

// One of two factors for both of a pair. Why not by bytes: a product takes either half of a
// register.
__device__ inline uint32_t twice(uint32_t two, int which) {
  __half2 pair;
  memcpy(&pair, &two, sizeof(pair));
  pair = which == 0 ? __low2half2(pair) : __high2half2(pair);
  memcpy(&two, &pair, sizeof(pair));
  return two;
}

// Queries as operands, for tiles of kRows: a lane loads its share of one product at once.
template <int kRows>
class Fp4Queries {
  static constexpr int kHalves = kRows / 8;

 public:
  static constexpr int kWords = 2 * kHalves;  // registers of a lane

  explicit __device__ Fp4Queries(char* shared) : words_(reinterpret_cast<uint32_t*>(shared)) {}

  // Stores the `eight`-th eight elements of a row, in the order of fp4_pairs().
  __device__ void store(int row, int eight, const float (&x)[8]) const {
    const int lane = row % 8 * 4 + eight % 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int product = eight / 4 * 2 + i / 2;
      const int first = i / 2 * 4 + i % 2;
      words_[((product * device::kWarpSize + lane) * 2 + i % 2) * kHalves + row / 8] =
          device::packed<__half>(x[first], x[first + 2]);
    }
  }

  __device__ void load(int product, int lane, uint32_t (&words)[kWords]) const {
    using Words = device::Vec<uint32_t, kWords>;
    const Words& from = reinterpret_cast<const Words*>(words_)[product * device::kWarpSize + lane];
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = from.data[i];
  }

 private:
  uint32_t* words_;
};

// The scales of a row of kElements.
template <int kElements>
class Fp4Scales {
  static constexpr int kBytes = kElements / kFp4Block;

 public:
  static constexpr int kWords = kBytes / 4;

  // All of a row.
  __device__ void load(const char* scales, int row) {
    const auto* words = reinterpret_cast<const uint32_t*>(scales + row * kBytes);
#pragma unroll
    for (int i = 0; i < kWords; ++i) words_[i] = words[i];
  }

  // Those of even blocks, or with `odd` of odd ones: a lane has elements of either.
  __device__ void load_half(const char* scales, int row, int odd) {
    load(scales, row);
    const uint32_t which = odd ? 0x7531 : 0x6420;
#pragma unroll
    for (int i = 0; i < kWords; i += 2) {
      words_[i / 2] = __byte_perm(words_[i], words_[kWords == 1 ? 0 : i + 1], which);
    }
  }

  // The factors of the i-th of them and of the one after the next, where i % 4 is 0 or 1.
  __device__ uint32_t of_half(int i) const {
    return fp4_factors<__half>(words_[i / 4] >> (i % 4 * 8) & 0x00ff00ffu);
  }

  // Those of two rows of even blocks, or with `odd` of odd ones: two of this row in bytes 0 and 1,
  // two of the other in bytes 2 and 3.
  __device__ uint32_t of_both(const Fp4Scales& other, int word, int odd) const {
    return __byte_perm(words_[word], other.words_[word], 0x6420 + 0x1111 * odd);
  }

  // The highest bit of each byte of a word that is a scale of no number.
  __device__ uint32_t special(int word) const { return special_scales(words_[word]); }

  __device__ bool is_special() const {
    uint32_t bits = 0;
#pragma unroll
    for (const uint32_t word : words_) bits |= special_scales(word);
    return bits != 0;
  }

 private:
  uint32_t words_[kWords];
};

}  // namespace fictl::attention
