// Random numbers by counter: Philox4x32-10, the same numbers as cuRAND's for the same seed,
// subsequence and offset. Why not curand_kernel.h: it costs every compile half a second.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

namespace fictl::sampling {

class Philox {
 public:
  __host__ __device__ Philox(uint64_t seed, uint64_t subsequence, uint64_t offset)
      : seed_(seed), subsequence_(subsequence), offset_(offset) {}

  // The next number of the stream, over (0, 1].
  __host__ __device__ float uniform() {
    constexpr float kStep = 2.3283064e-10f;  // 2^-32
    return static_cast<float>(next()) * kStep + 0.5f * kStep;
  }

  __host__ __device__ uint32_t next() {
    const uint64_t block = offset_ / 4;
    uint32_t words[4] = {low(block), high(block), low(subsequence_), high(subsequence_)};
    uint32_t key[2] = {low(seed_), high(seed_)};
#pragma unroll
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xD2511F53} * words[0];
      const uint64_t b = uint64_t{0xCD9E8D57} * words[2];
      words[0] = high(b) ^ words[1] ^ key[0];
      words[1] = low(b);
      words[2] = high(a) ^ words[3] ^ key[1];
      words[3] = low(a);
      key[0] += 0x9E3779B9;
      key[1] += 0xBB67AE85;
    }
    // Why not words[…]: an array indexed by a number lies in memory.
    const uint32_t pair[2] = {offset_ % 2 == 0 ? words[0] : words[1],
                              offset_ % 2 == 0 ? words[2] : words[3]};
    return offset_++ % 4 < 2 ? pair[0] : pair[1];
  }

 private:
  __host__ __device__ static uint32_t low(uint64_t x) { return static_cast<uint32_t>(x); }
  __host__ __device__ static uint32_t high(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

  uint64_t seed_;
  uint64_t subsequence_;
  uint64_t offset_;
};

// The random state of each row: one seed and one offset for all rows or, with a step other than 0,
// one per row.
struct Draws {
  const uint64_t* seeds = nullptr;
  const uint64_t* offsets = nullptr;
  uint64_t seed = 0;  // where there are no seeds
  uint64_t offset = 0;
  int seed_step = 0;
  int offset_step = 0;

  // A row that shares its seed has the subsequence of its index. One with a seed of its own has the
  // same stream at any index of the batch.
  __device__ Philox of(int64_t row) const {
    const uint64_t its_seed = seeds == nullptr ? seed : seeds[row * seed_step];
    const uint64_t its_offset = offsets == nullptr ? offset : offsets[row * offset_step];
    return Philox(its_seed, seed_step == 0 ? row : 0, its_offset);
  }
};

}  // namespace fictl::sampling
