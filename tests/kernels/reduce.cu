// Sums with everything that reduce.cuh offers: several in a row over blocks of every size, and over
// parts of a warp. Exits with 0 if all threads have the right sums, 1 if not, 77 without a GPU.
#include <stdio.h>

#include <fictl/device/launch.cuh>
#include <fictl/device/reduce.cuh>

namespace device = fictl::device;

constexpr int kSums = 5;
constexpr int kThreads = device::kMaxThreads;

// Small integers, whose sums are exact in any order.
__host__ __device__ float value(int thread, int sum) { return (thread * 7 + sum * 13) % 32; }

__global__ void sum_block(float* sums) {
  __shared__ device::BlockSum::Storage storage;
  device::BlockSum block_sum(storage);
  for (int sum = 0; sum < kSums; ++sum) {
    sums[sum * kThreads + threadIdx.x] = block_sum(value(threadIdx.x, sum));
  }
}

__global__ void sum_lanes(float* sums, int width) {
  sums[threadIdx.x] = device::warp_sum(value(threadIdx.x, 0), width);
}

// Whether the threads from `first` on all have the sum of their values.
bool right(const float* sums, int first, int count, int sum) {
  float expected = 0;
  for (int i = 0; i < count; ++i) expected += value(first + i, sum);
  for (int i = 0; i < count; ++i) {
    if (sums[first + i] == expected) continue;
    printf("thread %d of %d, sum %d: %g, not %g\n", i, count, sum, sums[first + i], expected);
    return false;
  }
  return true;
}

bool blocks_are_right(float* sums) {
  for (int threads = device::kWarpSize; threads <= kThreads; threads += device::kWarpSize) {
    device::LaunchConfig config;
    config.grid = dim3(1);
    config.block = dim3(threads);
    if (device::launch<sum_block>(config, sums) != cudaSuccess) return false;
    if (cudaDeviceSynchronize() != cudaSuccess) return false;
    for (int sum = 0; sum < kSums; ++sum) {
      if (!right(sums + sum * kThreads, 0, threads, sum)) return false;
    }
  }
  return true;
}

bool parts_of_a_warp_are_right(float* sums) {
  for (int width = 1; width <= device::kWarpSize; width *= 2) {
    device::LaunchConfig config;
    config.grid = dim3(1);
    config.block = dim3(device::kWarpSize);
    if (device::launch<sum_lanes>(config, sums, width) != cudaSuccess) return false;
    if (cudaDeviceSynchronize() != cudaSuccess) return false;
    for (int first = 0; first < device::kWarpSize; first += width) {
      if (!right(sums, first, width, 0)) return false;
    }
  }
  return true;
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  float* sums = nullptr;
  if (cudaMallocManaged(&sums, kSums * kThreads * sizeof(float)) != cudaSuccess) return 1;
  return blocks_are_right(sums) && parts_of_a_warp_are_right(sums) ? 0 : 1;
}
