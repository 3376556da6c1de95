// Keys and values of four bits on their way to tiles of 16 bits, for prefill.cuh: its tensor cores
// read each of them for many rows of queries, so that converting once costs little.
#pragma once

#include <fictl/attention/fp4_keys.cuh>
#include <fictl/attention/tile.cuh>

namespace fictl::attention {

// Begins to copy the scales of a stage's keys, then of its values: a row for each. Of keys that are
// not there they become zero.
template <int kThreads, int kElements, int kValues, typename Keys, int kKeys>
__device__ void copy_scales(char* to, const KeyRows<Keys, kKeys>& from) {
  constexpr int kBytes = kElements / kFp4Block;
  constexpr int kValueBytes = kValues / kFp4Block;
  for (int row = static_cast<int>(threadIdx.x); row < kKeys; row += kThreads) {
    const auto& at = from.rows[row];
    const bool is_there = at.key != nullptr;
    device::copy_async_few<kBytes>(to + row * kBytes, at.key_scales, is_there ? kBytes : 0);
    device::copy_async_few<kValueBytes>(to + kKeys * kBytes + row * kValueBytes, at.value_scales,
                                        is_there ? kValueBytes : 0);
  }
}

// Converts rows; each is kUnits bytes, with a scale for eight of them.
template <int kRows, int kThreads, int kUnits, typename To, int kColumns>
__device__ void widen_fp4_rows(Tile<Fp4x2, kUnits> from, const char* scales, Tile<To, kColumns> to,
                               int thread) {
  static_assert(kColumns == 2 * kUnits, "two elements in a byte");
  constexpr int kBlocks = kColumns / kFp4Block;
#pragma unroll 2
  for (int i = thread; i < kRows * kBlocks; i += kThreads) {
    const int row = i / kBlocks;
    const int block = i % kBlocks;
    const auto* chunk = reinterpret_cast<const uint2*>(from.chunk(row, block / 2));
    const uint2 packed = chunk[block % 2];
    const uint32_t scale = static_cast<uint8_t>(scales[row * kBlocks + block]);
    uint32_t factors = fp4_factors<To>(scale * 0x10001u);
    if (special_scales(scale)) factors = 0x7fff7fffu;  // NaN
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint32_t eight = half == 0 ? packed.x : packed.y;
      const uint32_t a = times<To>(fp4_pair<To, 0>(eight), factors);  // elements 0 and 4
      const uint32_t b = times<To>(fp4_pair<To, 1>(eight), factors);
      const uint32_t c = times<To>(fp4_pair<To, 2>(eight), factors);
      const uint32_t d = times<To>(fp4_pair<To, 3>(eight), factors);
      const uint4 eights = {__byte_perm(a, b, 0x5410), __byte_perm(c, d, 0x5410),
                            __byte_perm(a, b, 0x7632), __byte_perm(c, d, 0x7632)};
      *reinterpret_cast<uint4*>(to.chunk(row, 2 * block + half)) = eights;
    }
  }
}

}  // namespace fictl::attention
