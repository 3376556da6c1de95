// Launches one kernel with everything that launch.cuh offers: a cluster, shared memory beyond the
// default limit, and programmatic dependent launch. Exits with 0 if the result is right, 1 if not,
// 77 where no GPU has clusters.
#include <stdio.h>

#include <fictl/device/launch.cuh>

namespace device = fictl::device;

constexpr int kCluster = 2;
constexpr int kBlocks = 4;
constexpr size_t kSharedBytes = 100 * 1024;

// Adds the cluster's size to each element, by way of the last byte of shared memory.
__global__ void add_cluster_size(int* data) {
  extern __shared__ unsigned char shared[];
  unsigned clusters = 0;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(clusters));
  device::pdl_wait();
  device::pdl_trigger();
  shared[kSharedBytes - 1] = static_cast<unsigned char>(clusters);
  data[blockIdx.x] += shared[kSharedBytes - 1];
}

int main() {
  int major = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) != cudaSuccess ||
      major < 9) {
    return 77;
  }
  int* data = nullptr;
  cudaMalloc(&data, kBlocks * sizeof(int));
  cudaMemset(data, 0, kBlocks * sizeof(int));
  device::LaunchConfig config;
  config.grid = dim3(kBlocks);
  config.block = dim3(1);
  config.shared_bytes = kSharedBytes;
  config.cluster = dim3(kCluster);
  config.pdl = true;
  for (int i = 0; i < 3; ++i) {
    const cudaError_t status = device::launch<add_cluster_size>(config, data);
    if (status != cudaSuccess) {
      printf("%s\n", cudaGetErrorName(status));
      return 1;
    }
  }
  int result[kBlocks] = {};
  cudaMemcpy(result, data, sizeof(result), cudaMemcpyDeviceToHost);
  for (int value : result) {
    if (value != 3 * kCluster) return 1;
  }
  return 0;
}
