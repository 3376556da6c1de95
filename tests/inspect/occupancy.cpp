// NVIDIA's own calculator, asked for what it makes of each line: capability, limits of an SM,
// block.

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstring>
using std::max;
using std::min;

#include <cuda_occupancy.h>

int main() {
  cudaOccDeviceProp gpu;
  int threads, registers, shared, barriers, limit;
  while (std::scanf("%d.%d %d %d %d %d %d %d %d", &gpu.computeMajor, &gpu.computeMinor,
                    &gpu.maxThreadsPerMultiprocessor, &limit, &gpu.regsPerMultiprocessor, &threads,
                    &registers, &shared, &barriers) == 9) {
    gpu.maxThreadsPerBlock = 1024;
    gpu.regsPerBlock = gpu.regsPerMultiprocessor;
    gpu.warpSize = 32;
    gpu.numSms = 1;
    gpu.sharedMemPerMultiprocessor = limit;
    gpu.reservedSharedMemPerBlock = gpu.computeMajor >= 8 ? 1024 : 0;
    gpu.sharedMemPerBlock = 48 << 10;
    gpu.sharedMemPerBlockOptin = limit - gpu.reservedSharedMemPerBlock;
    cudaOccFuncAttributes kernel;
    kernel.maxThreadsPerBlock = INT_MAX;
    kernel.numRegs = registers;
    kernel.sharedSizeBytes = 0;
    kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.maxDynamicSharedSizeBytes = gpu.sharedMemPerBlockOptin;
    kernel.numBlockBarriers = barriers;
    kernel.virtualResourceCount = 0;
    const cudaOccDeviceState state;
    cudaOccResult result;
    const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
        &result, &gpu, &kernel, &state, threads, static_cast<size_t>(shared));
    std::printf("%d\n", error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1);
  }
}
