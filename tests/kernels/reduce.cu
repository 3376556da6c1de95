// Everything that reduce.cuh offers: sums and extremes, several in a row over blocks of every size,
// and over parts of a warp. Exits with 0 if all threads have the right ones, 1 if not, 77 without a
// GPU.
#include <math.h>
#include <stdio.h>

#include <fictl/device/launch.cuh>
#include <fictl/device/reduce.cuh>

namespace device = fictl::device;

constexpr int kRounds = 5;
constexpr int kThreads = device::kMaxThreads;

// Small integers, whose sums are exact in any order.
__host__ __device__ float value(int thread, int round) { return (thread * 7 + round * 13) % 32; }

// The same with a NaN in one lane.
__host__ __device__ float value_or_nan(int thread, int round) {
  return thread == 17 ? NAN : value(thread, round);
}

__global__ void sum_block(float* results) {
  __shared__ device::BlockSum::Storage storage;
  device::BlockSum block_sum(storage);
  for (int round = 0; round < kRounds; ++round) {
    results[round * kThreads + threadIdx.x] = block_sum(value(threadIdx.x, round));
  }
}

// One of each after the other, which all go by the same storage.
template <typename Real>
__global__ void reduce_block(float* results) {
  __shared__ typename device::BlockReduce<Real>::Storage storage;
  device::BlockReduce<Real> over_block(storage);
  float* mine = results + threadIdx.x;
  mine[0 * kThreads] = over_block(device::Sum(), Real(value(threadIdx.x, 0)));
  mine[1 * kThreads] = over_block(device::Max(), Real(value(threadIdx.x, 1)));
  mine[2 * kThreads] = over_block(device::Min(), Real(-value(threadIdx.x, 2)));
  mine[3 * kThreads] = over_block(device::Max(), Real(value_or_nan(threadIdx.x, 3)));
  mine[4 * kThreads] = over_block(device::Min(), Real(value_or_nan(threadIdx.x, 4)));
}

__global__ void sum_lanes(float* results, int width) {
  results[threadIdx.x] = device::warp_sum(value(threadIdx.x, 0), width);
}

__global__ void max_lanes(float* results, int width) {
  results[threadIdx.x] = device::warp_reduce(device::Max(), value(threadIdx.x, 0), width);
}

// Whether `count` threads all have what is expected.
bool all_have(const float* results, int count, float expected, const char* what) {
  for (int i = 0; i < count; ++i) {
    const bool same = isnan(expected) ? isnan(results[i]) : results[i] == expected;
    if (same) continue;
    printf("%s: thread %d of %d: %g, not %g\n", what, i, count, results[i], expected);
    return false;
  }
  return true;
}

float sum_of(int first, int count, int round) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += value(first + i, round);
  return sum;
}

float max_of(int first, int count, int round) {
  float most = value(first, round);
  for (int i = 1; i < count; ++i) most = fmaxf(most, value(first + i, round));
  return most;
}

template <auto kernel, typename... Args>
bool run(int threads, Args... args) {
  device::LaunchConfig config;
  config.grid = dim3(1);
  config.block = dim3(threads);
  return device::launch<kernel>(config, args...) == cudaSuccess &&
         cudaDeviceSynchronize() == cudaSuccess;
}

bool sums_are_right(float* results) {
  for (int threads = device::kWarpSize; threads <= kThreads; threads += device::kWarpSize) {
    if (!run<sum_block>(threads, results)) return false;
    for (int round = 0; round < kRounds; ++round) {
      const float* found = results + round * kThreads;
      if (!all_have(found, threads, sum_of(0, threads, round), "sum")) return false;
    }
  }
  return true;
}

template <typename Real>
bool reductions_are_right(float* results) {
  for (int threads = device::kWarpSize; threads <= kThreads; threads += device::kWarpSize) {
    if (!run<reduce_block<Real>>(threads, results)) return false;
    const float expected[] = {sum_of(0, threads, 0), max_of(0, threads, 1), -max_of(0, threads, 2),
                              NAN, NAN};
    const char* names[] = {"sum", "max", "min", "max with NaN", "min with NaN"};
    for (int i = 0; i < 5; ++i) {
      if (!all_have(results + i * kThreads, threads, expected[i], names[i])) return false;
    }
  }
  return true;
}

bool parts_of_a_warp_are_right(float* results) {
  for (int width = 1; width <= device::kWarpSize; width *= 2) {
    if (!run<sum_lanes>(device::kWarpSize, results, width)) return false;
    for (int i = 0; i < device::kWarpSize; i += width) {
      if (!all_have(results + i, width, sum_of(i, width, 0), "sum of lanes")) return false;
    }
    if (!run<max_lanes>(device::kWarpSize, results, width)) return false;
    for (int i = 0; i < device::kWarpSize; i += width) {
      if (!all_have(results + i, width, max_of(i, width, 0), "max of lanes")) return false;
    }
  }
  return true;
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  float* results = nullptr;
  if (cudaMallocManaged(&results, kRounds * kThreads * sizeof(float)) != cudaSuccess) return 1;
  const bool right = sums_are_right(results) && reductions_are_right<float>(results) &&
                     reductions_are_right<double>(results) && parts_of_a_warp_are_right(results);
  return right ? 0 : 1;
}
