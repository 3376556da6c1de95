// The queries of an item on their way to shared memory.
#pragma once

#include <type_traits>

#include <fictl/attention/problem.cuh>
#include <fictl/attention/row.cuh>
#include <fictl/attention/tile.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/widen.cuh>

namespace fictl::attention {

// Type of the queries that tensor cores multiply: fp16 for those of 8 bits, whose values it holds.
template <typename Q>
using Widened = std::conditional_t<sizeof(Q) == 1, __half, Q>;

// Loads rows of kElements of 8 bits into a tile of 16: no copy converts. `from(row)` is where a row
// starts; null makes it zero.
template <int kRows, int kThreads, int kElements, typename T, typename To, int kColumns,
          typename From>
__device__ void widen_rows(Tile<To, kColumns> to, From from) {
  constexpr int kOf = device::kVecBytes;  // elements of a load
  static_assert(kElements % kOf == 0 && kColumns % kOf == 0, "whole loads");
  constexpr int kLoads = kColumns / kOf;
#pragma unroll 2
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kLoads; i += kThreads) {
    const int row = i / kLoads;
    const int load = i % kLoads;
    const T* start = from(row);
    uint4 wide[2] = {};
    if (start != nullptr && load < kElements / kOf) {
      device::widen<To, T>(device::load_l2<kOf>(start + load * kOf).bits(), wide);
    }
    *reinterpret_cast<uint4*>(to.chunk(row, 2 * load)) = wide[0];
    *reinterpret_cast<uint4*>(to.chunk(row, 2 * load + 1)) = wide[1];
  }
}

// Begins to copy them; rows beyond those of the request become zero. Those of 8 bits are there at
// the next barrier.
template <int kThreads, int kColumns, typename Config>
__device__ void copy_queries(Tile<Widened<typename Config::Q>, kColumns> to,
                             const Problem<Config>& problem, const Item& item, int kv_head) {
  using Q = typename Config::Q;
  const auto from = [&](int row) -> const Q* {
    const Row own = row_of(problem, item.row + row, kv_head);
    return own.query < item.q_len ? problem.q.row(item.q_start + own.query, own.head) : nullptr;
  };
  if constexpr (std::is_same_v<Q, Widened<Q>>) {
    copy_rows<Config::kRows, kThreads, Config::kHeadDim>(to, from);
  } else {
    widen_rows<Config::kRows, kThreads, Config::kHeadDim, Q>(to, from);
  }
}

// Queries of bf16 on their way through registers to fp16. Why in two steps: what is asked for after
// the first keys arrives after them.
template <int kThreads, int kColumns, typename Config>
class ScaledQueries {
  using Q = typename Config::Q;
  static_assert(sizeof(Q) == sizeof(__half), "queries of 16 bits");
  static constexpr int kOf = 8;  // elements of a load
  static constexpr int kLoads = kColumns / kOf;
  static_assert(Config::kHeadDim % kOf == 0 && kColumns % kOf == 0, "whole loads");
  static constexpr int kLanes = device::power_of_two(kLoads, 1, device::kWarpSize);
  static constexpr int kTimes = (kLoads + kLanes - 1) / kLanes;
  static constexpr int kRows = kThreads / kLanes;  // at once
  static constexpr int kRounds = (Config::kRows + kRows - 1) / kRows;
  static_assert(Config::kRows % kRows == 0 || kRounds == 1, "all lanes of a warp have a row");

 public:
  // Asks for them; rows beyond those of the request are zeros.
  __device__ void load(const Problem<Config>& problem, const Item& item, int kv_head) {
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      const int row = this->row(round);
      const Row own = row_of(problem, item.row + row, kv_head);
      const bool is_there = row < Config::kRows && own.query < item.q_len;
      const Q* from = is_there ? problem.q.row(item.q_start + own.query, own.head) : nullptr;
#pragma unroll
      for (int time = 0; time < kTimes; ++time) {
        const int load = time * kLanes + lane();
        raw_[round][time] = {};
        if (is_there && load < Config::kHeadDim / kOf) {
          raw_[round][time] = device::load_l2<kOf>(from + load * kOf);
        }
      }
    }
  }

  // Gives them to `store(row, eight, x)`, eight elements at a time. Each row is scaled by a power
  // of two to where fp16 holds what matters of it: elements of bf16 that are 2^24 times smaller
  // than the largest keep their bits. `scales` get what the scores of each row are to be multiplied
  // with.
  template <typename Store>
  __device__ void give(float* scales, Store store) const {
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      const int row = this->row(round);
      float x[kTimes][kOf];
      float most = 0.0f;
#pragma unroll
      for (int time = 0; time < kTimes; ++time) {
        device::to_float(raw_[round][time], x[time]);
#pragma unroll
        for (const float value : x[time]) most = fmaxf(most, fabsf(value));
      }
      most = device::warp_reduce(device::Max(), most, kLanes);
      if (row >= Config::kRows) break;
      // To 2^13 and above.
      const int exponent = static_cast<int>(__float_as_uint(most) >> 23);
      const int up = exponent == 0 || exponent == 255 ? 0 : min(140 - exponent, 126);
      const float factor = __uint_as_float(static_cast<uint32_t>(127 + up) << 23);
      if (lane() == 0) scales[row] = __uint_as_float(static_cast<uint32_t>(127 - up) << 23);
#pragma unroll
      for (int time = 0; time < kTimes; ++time) {
        const int load = time * kLanes + lane();
        if (load >= kLoads) break;
#pragma unroll
        for (float& value : x[time]) value *= factor;
        store(row, load, x[time]);
      }
    }
  }

 private:
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % kLanes; }
  static __device__ int row(int round) {
    return round * kRows + static_cast<int>(threadIdx.x) / kLanes;
  }

  device::Vec<Q, kOf> raw_[kRounds][kTimes];
};

// Each by its position among the keys, in place; `turns` as in rotate_rows().
template <int kThreads, int kColumns, typename Config>
__device__ void rotate_queries(Tile<Widened<typename Config::Q>, kColumns> q,
                               const Problem<Config>& problem, const Item& item, int kv_head,
                               const double* turns) {
  const auto position_of = [&](int row) {
    return item.kv_len - item.q_len + row_of(problem, item.row + row, kv_head).query;
  };
  rotate_rows<Config::kRows, kThreads, Config::kHeadDim>(q, q, turns, position_of,
                                                         static_cast<int>(threadIdx.x));
}

}  // namespace fictl::attention
