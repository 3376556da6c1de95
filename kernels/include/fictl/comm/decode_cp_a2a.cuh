// decode_cp_a2a: ranks of context parallelism exchange attention over their parts of the keys. A
// row is a head of a token; of each row a rank has a slice for every peer, and gets every peer's
// slice for itself: as they are, or merged by the logarithms of the sums of their weights.
//
// Algorithm: a push into slots of the peers' workspaces (stages.cuh), behind which slices are
// copied out, or averaged with the weights 2^lse in the order of the ranks, in fp32, rounded once.
// A slice whose lse is -inf, +inf or NaN has no keys: its weight is 0, and its values are not
// looked at.
//
// Traffic: as all_gather's, a slice where that has a part. The merge writes one slice of N.
//
// Tiling: words of 16 bytes of the values, in stages; the thread that has the first word of a row
// has its statistics too.
#pragma once

#include <math.h>

#include <fictl/comm/stages.cuh>
#include <fictl/device/convert.cuh>
#include <fictl/device/divisor.cuh>

namespace fictl::comm {

constexpr int kCpWordBytes = 16;

// Rows of slices; strides in bytes. Statistics are pairs of fp32, or single ones.
struct CpSlices {
  const char* values;
  int64_t value_row;
  int64_t value_peer;
  const char* stats;
  int64_t stat_row;
  int64_t stat_peer;
  int stat_words;  // fp32 of a row and peer
  int64_t rows;
  device::Divisor words;  // of 16 bytes, of a row and peer
  bool aligned;           // values and their strides, to words
};

using CpWord = device::Vec<uint8_t, kCpWordBytes>;

__device__ inline CpWord cp_load(const char* from, bool aligned = true) {
  return load_word<kCpWordBytes>(reinterpret_cast<const uint8_t*>(from), aligned);
}
__device__ inline void cp_store(char* to, CpWord word, bool aligned = true) {
  store_word<kCpWordBytes>(reinterpret_cast<uint8_t*>(to), word, aligned);
}

// Where a rank's slices are in the memory of another, behind one another: values, then statistics.
struct CpSlot {
  char* values;
  float* stats;
};

__device__ inline CpSlot cp_slot(const Peers& peers, const CpSlices& slices, int of, int from,
                                 int64_t half) {
  const int64_t values = slices.rows * slices.words.divisor() * kCpWordBytes;
  const int64_t stats = slices.rows * slices.stat_words * sizeof(float);
  const int64_t slot = (values + stats + kCpWordBytes - 1) / kCpWordBytes * kCpWordBytes;
  char* begin = peers.data<char>(of, half + from * slot);
  return {begin, reinterpret_cast<float*>(begin + values)};
}

__device__ inline void cp_push(const Peers& peers, const CpSlices& slices, Stride range,
                               int64_t half) {
  for (int to = 0; to < peers.size; ++to) {
    const int peer = (peers.rank + to) % peers.size;  // Why: each link has one writer at a time.
    const CpSlot slot = cp_slot(peers, slices, peer, peers.rank, half);
    const char* values = slices.values + peer * slices.value_peer;
    for_each_word(
        range,
        [&](int64_t i) {
          const auto [row, word] = slices.words.divide(static_cast<int>(i));
          const char* from = values + row * slices.value_row + word * kCpWordBytes;
          return cp_load(from, slices.aligned);
        },
        [&](int64_t i, CpWord word) { cp_store(slot.values + i * kCpWordBytes, word); });
    for (int64_t i = range.begin; i < range.end; i += range.step) {
      const auto [row, word] = slices.words.divide(static_cast<int>(i));
      if (word != 0) continue;
      const auto* from = reinterpret_cast<const float*>(slices.stats + row * slices.stat_row +
                                                        peer * slices.stat_peer);
      for (int n = 0; n < slices.stat_words; ++n) {
        slot.stats[int64_t{row} * slices.stat_words + n] = from[n];
      }
    }
  }
}

// out: (rows, ranks, values), out_stats: (rows, ranks, statistics), contiguous.
__global__ void __launch_bounds__(kStageThreads, kStageBlocksOfSm)
    CpAlltoallKernel(const __grid_constant__ Peers peers, StageShape shape,
                     const __grid_constant__ CpSlices slices, char* out, float* out_stats,
                     bool out_aligned) {
  begin(peers);
  const auto push = [&](Stride range, int64_t half) { cp_push(peers, slices, range, half); };
  const auto take = [&](Stride range, int64_t half) {
    const int words = slices.words.divisor();
    for (int from = 0; from < peers.size; ++from) {
      const CpSlot slot = cp_slot(peers, slices, peers.rank, from, half);
      const auto to = [&](int64_t row) { return row * peers.size + from; };
      for_each_word(
          range, [&](int64_t i) { return cp_load(slot.values + i * kCpWordBytes); },
          [&](int64_t i, CpWord value) {
            const auto [row, word] = slices.words.divide(static_cast<int>(i));
            cp_store(out + (to(row) * words + word) * kCpWordBytes, value, out_aligned);
          });
      for (int64_t i = range.begin; i < range.end; i += range.step) {
        const auto [row, word] = slices.words.divide(static_cast<int>(i));
        if (word != 0) continue;
        for (int n = 0; n < slices.stat_words; ++n) {
          out_stats[to(row) * slices.stat_words + n] =
              __ldcg(slot.stats + int64_t{row} * slices.stat_words + n);
        }
      }
    }
  };
  in_stages(peers, shape, push, take);
}

// The weights of a row's slices, which add up to 1; all 0 where no slice has keys.
__device__ inline void cp_weights(const Peers& peers, const CpSlices& slices, int64_t row,
                                  int64_t half, float log2_factor, float (&weights)[kMostRanks]) {
  // Why all of them: what is indexed by constants stays in registers.
  float most = -INFINITY;
#pragma unroll
  for (int from = 0; from < kMostRanks; ++from) {
    weights[from] = -INFINITY;
    if (from >= peers.size) continue;
    const float lse = __ldcg(cp_slot(peers, slices, peers.rank, from, half).stats + row);
    weights[from] = isfinite(lse) ? lse * log2_factor : -INFINITY;
    most = fmaxf(most, weights[from]);
  }
  float sum = 0;
#pragma unroll
  for (int from = 0; from < kMostRanks; ++from) {
    const bool has_keys = weights[from] > -INFINITY;
    weights[from] = has_keys ? exp2f(weights[from] - most) : 0.0f;
    sum += weights[from];
  }
#pragma unroll
  for (int from = 0; from < kMostRanks; ++from) weights[from] = sum > 0 ? weights[from] / sum : 0;
}

// out: (rows, values), contiguous. log2_factor: makes an lse one to the base 2.
template <typename T>
__global__ void __launch_bounds__(kStageThreads, kStageBlocksOfSm)
    CpReduceKernel(const __grid_constant__ Peers peers, StageShape shape,
                   const __grid_constant__ CpSlices slices, T* out, float log2_factor,
                   bool out_aligned) {
  constexpr int N = kCpWordBytes / sizeof(T);
  begin(peers);
  const auto push = [&](Stride range, int64_t half) { cp_push(peers, slices, range, half); };
  const auto take = [&](Stride range, int64_t half) {
    for (int64_t i = range.begin; i < range.end; i += range.step) {
      float weights[kMostRanks];
      cp_weights(peers, slices, slices.words.divide(static_cast<int>(i)).quotient, half,
                 log2_factor, weights);
      float sum[N] = {};
#pragma unroll
      for (int from = 0; from < kMostRanks; ++from) {
        if (weights[from] == 0) continue;
        const CpSlot slot = cp_slot(peers, slices, peers.rank, from, half);
        float values[N];
        device::to_float(device::load_l2<N>(reinterpret_cast<const T*>(slot.values) + i * N),
                         values);
        for (int n = 0; n < N; ++n) sum[n] += weights[from] * values[n];
      }
      store_word<N>(out + i * N, device::from_float<T, N>(sum), out_aligned);
    }
  };
  in_stages(peers, shape, push, take);
}

inline int64_t cp_words(const CpSlices& slices) { return slices.rows * slices.words.divisor(); }

// room: bytes of data in the memory of each rank, half of it for the slots of all ranks.
inline cudaError_t CpAlltoall(const Peers& peers, const CpSlices& slices, char* out,
                              float* out_stats, int64_t room, cudaStream_t stream = nullptr,
                              bool pdl = false) {
  return launch_stages<CpAlltoallKernel>(peers, cp_words(slices), room, stream, pdl, slices, out,
                                         out_stats, is_aligned<kCpWordBytes>(out));
}

template <typename T>
cudaError_t CpReduce(const Peers& peers, const CpSlices& slices, T* out, float log2_factor,
                     int64_t room, cudaStream_t stream = nullptr, bool pdl = false) {
  return launch_stages<CpReduceKernel<T>>(peers, cp_words(slices), room, stream, pdl, slices, out,
                                          log2_factor, is_aligned<kCpWordBytes / sizeof(T)>(out));
}

}  // namespace fictl::comm
