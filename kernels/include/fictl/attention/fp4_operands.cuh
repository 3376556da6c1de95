// Keys and values of four bits as operands of decode.cuh: no tile of 16 bits, for which shared
// memory would be written and read four times as much.
//
// Products are of fp16, whatever the queries are: an element of e5m2 is the high byte of one of
// fp16, so that a few instructions make eight nibbles eight bytes, one makes two bytes a pair, and
// one multiplies the pair by the scale of its block, which makes exponents right, too. bf16 takes a
// quarter more. It costs queries of bf16 nothing: each row is scaled by a power of two to where
// fp16 holds what matters of it, and weights are closer to what they are.
#pragma once

#include <fictl/attention/fp4_keys.cuh>
#include <fictl/device/mma.cuh>
#include <fictl/device/reduce.cuh>

namespace fictl::attention {

// Eight elements as four pairs of fp16: pair i are the elements i and i + 4.
__device__ inline void fp4_pairs(uint32_t eight, uint32_t factors, uint32_t (&pairs)[4]) {
  const uint32_t even = (eight << 4 & 0x80808080u) | (eight << 1 & 0x0e0e0e0eu);
  const uint32_t odd = (eight & 0x80808080u) | (eight >> 3 & 0x0e0e0e0eu);
  pairs[0] = times<__half>(__byte_perm(even, 0, 0x2404), factors);
  pairs[1] = times<__half>(__byte_perm(odd, 0, 0x2404), factors);
  pairs[2] = times<__half>(even & 0xff00ff00u, factors);
  pairs[3] = times<__half>(odd & 0xff00ff00u, factors);
}

// Queries as operands: a lane loads its share of one product at once, where it is used.
class Fp4Queries {
 public:
  explicit __device__ Fp4Queries(char* shared) : words_(reinterpret_cast<uint32_t*>(shared)) {}

  // Stores the `eight`-th eight elements of a row, in the order of fp4_pairs().
  __device__ void store(int row, int eight, const float (&x)[8]) const {
    const int lane = row % 8 * 4 + eight % 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int product = eight / 4 * 2 + i / 2;
      words_[(product * device::kWarpSize + lane) * 4 + i % 2 * 2 + row / 8] =
          device::packed<__half>(x[i], x[i + 4]);
    }
  }

  __device__ uint4 of(int product, int lane) const {
    return reinterpret_cast<const uint4*>(words_)[product * device::kWarpSize + lane];
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

  // The factors of the i-th of them, for both of a pair.
  __device__ uint32_t of_half(int i) const {
    return fp4_factors<__half>(__byte_perm(words_[i / 4], 0, 0x4040 + 0x0101 * (i % 4)));
  }

  // The factors of a pair of two rows' elements, of the block `odd` of the two of a chunk.
  __device__ uint32_t of_both(const Fp4Scales& other, int chunk, int odd) const {
    const uint32_t which = 0x0400 + 0x0101 * (chunk % 2 * 2 + odd);
    const uint32_t both = __byte_perm(words_[chunk / 2], other.words_[chunk / 2], which);
    return fp4_factors<__half>(both & 0x00ff00ffu);
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
