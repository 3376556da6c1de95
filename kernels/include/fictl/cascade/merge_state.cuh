// merge_state, merge_states: merge attention over parts of the keys into attention over all of
// them.
//
// A state is the attention over a part of the keys: its output v, and s, the base-2 logarithm of
// the sum of the exponentials. States are averaged with the weights 2^s. A state without keys has s
// = -inf: its weight is 0, and its v is ignored. If all states are without keys, v is 0 and s is
// -inf.
//
// Traffic: every v is read once and the result is written once. s is 1/64 of that, or less. Nothing
// is reused, so the limit is the memory's bandwidth.
//
// Tiling of two states: a row, which is a head of a position, is of the next power of two of lanes,
// so that a warp holds whole rows; a thread has 16 bytes of either state in flight. Every lane
// computes the weights of its row: to be told them by another would hold it up for longer. On an
// H200, 16384 x 32 rows of 128 bf16 take 94.8 us with blocks of 128 threads and the 1536 per SM
// that registers admit: 95.7 us with 256, 97.9 us with 512, and 101 us where all is held in 32
// registers so that there are 2048. Two rows a thread are as fast, and slower where there are few.
//
// Tiling of many: four states at a time a thread, or two where there are no more, its sum rescaled
// as the largest s grows. The
// states of a row are shared out to several threads, whose sums then meet in shared memory: up to
// 16 states each, which keeps the meeting cheap (128 x 32 rows of 100 states take 33 us, with up to
// 7 each 39 us), or up to 4 where that leaves the GPU with few threads. The last bits of a row may
// so depend on how many rows there are.
//
// Where a pointer, a pitch or the head dimension is not aligned to 16 bytes, a vector is one
// element.
//
// The result of two states may be written over either of them.
#pragma once

#include <float.h>
#include <math.h>

#include <type_traits>

#include <fictl/device/convert.cuh>
#include <fictl/device/divisor.cuh>
#include <fictl/device/functions.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::cascade {

constexpr int kMergeTwoThreads = 128;  // of two states
constexpr int kMergeRows = 1;          // of two states, a thread
constexpr int kMergeThreads = 256;     // of many states
constexpr int kMergeStates = 4;        // that a thread loads at a time, at most
constexpr int kMergeShare = 16;        // of a row's states, a thread
constexpr int kMergeSmallShare = 4;    // where there are fewer threads than this:
constexpr int64_t kMergeManyThreads = 128 * 1024;
constexpr int kMergeParts = 64;  // of a row's states, at most: no block is deeper

// The v and s of states: rows of v at one stride, in elements; s contiguous.
template <typename T>
struct States {
  T* v;
  std::conditional_t<std::is_const_v<T>, const float, float>* s;
  int64_t pitch;
};

// A weight of 0 may be that of a state without keys. Why the vector is cleared, not passed over:
// its load would wait for the weight.
template <typename T, int N>
__device__ void add_weighted(float (&sum)[N], device::Vec<T, N> v, float weight) {
  device::keep_packed(v);
  if (weight == 0.0f) v = {};
  float more[N];
  device::to_float(v, more);
#pragma unroll
  for (int i = 0; i < N; ++i) sum[i] += weight * more[i];
}

// Divides by the sum of the weights, which is 0 if no state has keys.
__device__ inline float normalizer(float total) {
  return total == 0.0f ? 0.0f : device::fast_divide(1.0f, total);
}

// The largest s, from which differences are finite. Why: differences from -inf are NaN. From this,
// 2^(-inf - max) is 0, and log2(0) + max is -inf.
constexpr float kLeastMax = -FLT_MAX;

// kMergeRows times blockDim.y rows a block, of blockDim.x lanes each. Pointers, pitches and
// head_dim are multiples of N. mask[row / heads], where there is one, says whether `to` is to
// change.
template <typename T, int N>
__global__ void __launch_bounds__(kMergeTwoThreads)
    MergeStateKernel(States<const T> a, States<const T> b, States<T> to, const uint8_t* mask,
                     int64_t rows, int64_t heads, int64_t head_dim) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.y * kMergeRows + threadIdx.y;
  device::pdl_wait();
  device::pdl_trigger();
  bool merges[kMergeRows];
  float merged_s[kMergeRows];
#pragma unroll
  for (int i = 0; i < kMergeRows; ++i) {
    const int64_t row = first + i * blockDim.y;
    merges[i] = row < rows && (mask == nullptr || mask[row / heads] != 0);
  }
  for (int64_t at = threadIdx.x * N; at < head_dim; at += blockDim.x * N) {
    device::Vec<T, N> v_a[kMergeRows], v_b[kMergeRows];
    float s_a[kMergeRows], s_b[kMergeRows];
#pragma unroll
    for (int i = 0; i < kMergeRows; ++i) {
      if (!merges[i]) continue;
      const int64_t row = first + i * blockDim.y;
      v_a[i] = device::load_l2<N>(a.v + row * a.pitch + at);
      v_b[i] = device::load_l2<N>(b.v + row * b.pitch + at);
      s_a[i] = a.s[row];
      s_b[i] = b.s[row];
    }
#pragma unroll
    for (int i = 0; i < kMergeRows; ++i) {
      if (!merges[i]) continue;
      const int64_t row = first + i * blockDim.y;
      const float max = fmaxf(kLeastMax, fmaxf(s_a[i], s_b[i]));
      const float weight_a = device::fast_exp2(s_a[i] - max);
      const float weight_b = device::fast_exp2(s_b[i] - max);
      const float factor = normalizer(weight_a + weight_b);
      float sum[N] = {};
      add_weighted(sum, v_a[i], weight_a * factor);
      add_weighted(sum, v_b[i], weight_b * factor);
      device::store_l2(to.v + row * to.pitch + at, device::from_float<T>(sum));
      merged_s[i] = log2f(weight_a + weight_b) + max;
    }
  }
  // Why: `to` may be a or b, and the other lanes of the row must have read s.
  __syncwarp();
  if (threadIdx.x != 0) return;
#pragma unroll
  for (int i = 0; i < kMergeRows; ++i) {
    if (merges[i]) to.s[first + i * blockDim.y] = merged_s[i];
  }
}

// The partial sums of a block's threads, in shared memory. Elements of one thread are a block
// apart: no two lanes share a bank.
template <int N>
struct MergeStorage {
  float sum[N][kMergeThreads];
  float max[kMergeThreads];
  float total[kMergeThreads];
};

// A weighted sum of N elements of states, and of the weights, which are 2^(s - max).
template <typename T, int N>
struct MergedStates {
  float sum[N] = {};
  float max = kLeastMax;
  float total = 0.0f;

  __device__ void raise_max(float s) {
    const float before = max;
    max = fmaxf(before, s);
    const float factor = device::fast_exp2(before - max);
    total *= factor;
#pragma unroll
    for (int i = 0; i < N; ++i) sum[i] *= factor;
  }

  // Adds every step-th of `count` states from the first on, kStates at a time.
  template <int kStates>
  __device__ void add(const T* v, const float* s, int64_t v_pitch, int64_t s_pitch, int64_t first,
                      int64_t count, int64_t step) {
    for (int64_t next = first; next < count; next += kStates * step) {
      device::Vec<T, N> vs[kStates];
      float ss[kStates];
#pragma unroll
      for (int i = 0; i < kStates; ++i) {
        const int64_t state = next + i * step;
        ss[i] = state < count ? s[state * s_pitch] : -INFINITY;
        if (state < count) vs[i] = device::load_l2<N>(v + state * v_pitch);
      }
      float most = ss[0];
#pragma unroll
      for (int i = 1; i < kStates; ++i) most = fmaxf(most, ss[i]);
      raise_max(most);
#pragma unroll
      for (int i = 0; i < kStates; ++i) {
        if (next + i * step >= count) break;
        const float weight = device::fast_exp2(ss[i] - max);
        total += weight;
        add_weighted(sum, vs[i], weight);
      }
    }
  }

  // Combines the sums of a row's blockDim.z threads in the first of them. Called by the whole
  // block.
  __device__ void meet(MergeStorage<N>& storage) {
    const int step = blockDim.x * blockDim.y;
    const int end = blockDim.z * step;
    const int own = threadIdx.z * step + threadIdx.y * blockDim.x + threadIdx.x;
    storage.max[own] = max;
    storage.total[own] = total;
#pragma unroll
    for (int i = 0; i < N; ++i) storage.sum[i][own] = sum[i];
    __syncthreads();
    if (threadIdx.z != 0) return;

    float most = max;
    for (int other = own + step; other < end; other += step) {
      most = fmaxf(most, storage.max[other]);
    }
    raise_max(most);
    for (int other = own + step; other < end; other += step) {
      const float weight = device::fast_exp2(storage.max[other] - max);
      total += weight * storage.total[other];
#pragma unroll
      for (int i = 0; i < N; ++i) sum[i] += weight * storage.sum[i][other];
    }
  }

  __device__ device::Vec<T, N> v() const {
    const float factor = normalizer(total);
    float mean[N];
#pragma unroll
    for (int i = 0; i < N; ++i) mean[i] = sum[i] * factor;
    return device::from_float<T>(mean);
  }

  __device__ float s() const { return log2f(total) + max; }
};

// blockDim.y rows a block; of each, blockIdx.y is one stretch of blockDim.x vectors, and its states
// are shared out to blockDim.z threads. Pointers, pitches and head_dim are multiples of N.
template <typename T, int N, int kStates>
__global__ void __launch_bounds__(kMergeThreads)
    MergeStatesKernel(States<const T> from, States<T> to, int64_t rows, int64_t states,
                      device::Divisor heads, int64_t head_dim) {
  __shared__ MergeStorage<N> storage;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  const int64_t at = (static_cast<int64_t>(blockIdx.y) * blockDim.x + threadIdx.x) * N;
  const bool there = row < rows && at < head_dim;
  const device::Divisor::Result of_head = heads.divide(static_cast<int>(row));
  const int64_t first = of_head.quotient * states * heads.divisor() + of_head.remainder;

  device::pdl_wait();
  device::pdl_trigger();
  MergedStates<T, N> merged;
  if (there) {
    merged.template add<kStates>(from.v + first * from.pitch + at, from.s + first,
                                 heads.divisor() * from.pitch, heads.divisor(), threadIdx.z, states,
                                 blockDim.z);
  }
  if (blockDim.z > 1) merged.meet(storage);
  if (!there || threadIdx.z != 0) return;
  device::store_l2(to.v + row * to.pitch + at, merged.v());
  if (at == 0) to.s[row] = merged.s();
}

template <int N, typename T>
bool in_vectors(const States<T>& states, int64_t head_dim) {
  return device::vec_aligned(states.v) && states.pitch % N == 0 && head_dim % N == 0;
}

template <typename T, int N>
cudaError_t LaunchMergeState(device::LaunchConfig config, States<const T> a, States<const T> b,
                             States<T> to, const uint8_t* mask, int64_t rows, int64_t heads,
                             int64_t head_dim) {
  const unsigned lanes = device::power_of_two(head_dim / N, 1, device::kWarpSize);
  config.block = dim3(lanes, kMergeTwoThreads / lanes);
  config.grid = dim3(device::ceil_div(rows, config.block.y * kMergeRows));
  return device::launch<MergeStateKernel<T, N>>(config, a, b, to, mask, rows, heads, head_dim);
}

// rows = positions * heads. `mask`, of positions, may be null. `to` may be a or b. `pdl`: use
// programmatic dependent launch where the GPU supports it.
template <typename T>
cudaError_t MergeState(States<const T> a, States<const T> b, States<T> to, const uint8_t* mask,
                       int64_t rows, int64_t heads, int64_t head_dim, cudaStream_t stream = nullptr,
                       bool pdl = false) {
  if (rows == 0 || head_dim == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  if (in_vectors<N>(a, head_dim) && in_vectors<N>(b, head_dim) && in_vectors<N>(to, head_dim)) {
    return LaunchMergeState<T, N>(config, a, b, to, mask, rows, heads, head_dim);
  }
  return LaunchMergeState<T, 1>(config, a, b, to, mask, rows, heads, head_dim);
}

template <typename T, int N>
cudaError_t LaunchMergeStates(device::LaunchConfig config, States<const T> from, States<T> to,
                              int64_t rows, int64_t states, int64_t heads, int64_t head_dim) {
  const int64_t vecs = head_dim / N;
  const unsigned lanes = device::power_of_two(vecs, 1, device::kWarpSize);
  const unsigned most = kMergeThreads / lanes < kMergeParts ? kMergeThreads / lanes : kMergeParts;
  const bool many = rows * vecs * device::ceil_div(states, kMergeShare) >= kMergeManyThreads;
  const int64_t wanted = device::ceil_div(states, many ? kMergeShare : kMergeSmallShare);
  const unsigned parts = device::power_of_two(wanted, 1, static_cast<int>(most));
  config.block = dim3(lanes, kMergeThreads / lanes / parts, parts);
  config.grid = dim3(device::ceil_div(rows, config.block.y), device::ceil_div(vecs, lanes));
  const device::Divisor by_heads(static_cast<int>(heads));
  if (states <= kMergeStates / 2) {
    return device::launch<MergeStatesKernel<T, N, kMergeStates / 2>>(config, from, to, rows, states,
                                                                     by_heads, head_dim);
  }
  return device::launch<MergeStatesKernel<T, N, kMergeStates>>(config, from, to, rows, states,
                                                               by_heads, head_dim);
}

// Merges (positions, states, heads, head_dim) into (positions, heads, head_dim); rows = positions *
// heads, less than 2^31. `pdl` as above.
template <typename T>
cudaError_t MergeStates(States<const T> from, States<T> to, int64_t rows, int64_t states,
                        int64_t heads, int64_t head_dim, cudaStream_t stream = nullptr,
                        bool pdl = false) {
  if (rows == 0 || head_dim == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  if (in_vectors<N>(from, head_dim) && in_vectors<N>(to, head_dim)) {
    return LaunchMergeStates<T, N>(config, from, to, rows, states, heads, head_dim);
  }
  return LaunchMergeStates<T, 1>(config, from, to, rows, states, heads, head_dim);
}

}  // namespace fictl::cascade
