// Kernel launch: one call for grid, clusters, large shared memory and programmatic dependent
// launch.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <utility>

namespace fictl::device {

// Larger clusters need to be asked for; sm_90 has 16.
constexpr unsigned kMostBlocksOfPortableCluster = 8;

struct LaunchConfig {
  dim3 grid;
  dim3 block;
  cudaStream_t stream = nullptr;
  size_t shared_bytes = 0;
  dim3 cluster = {1, 1, 1};
  // Programmatic dependent launch, where the GPU and the code support it: the kernel starts while
  // the previous one ends, and must call pdl_wait() before it accesses memory.
  bool pdl = false;

  unsigned blocks_of_cluster() const { return cluster.x * cluster.y * cluster.z; }
};

// True where code is for sm_90 or newer; the emulated device has its instructions.
#if defined(FICTL_EMU) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
#define FICTL_HAS_CLUSTERS 1
#endif

// Waits until the previous kernels have ended and their writes are visible.
__device__ inline void pdl_wait() {
#ifdef FICTL_HAS_CLUSTERS
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Allows the next kernel to start as soon as every block of this one has called this or ended.
__device__ inline void pdl_trigger() {
#ifdef FICTL_HAS_CLUSTERS
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// True if the code compiled for this GPU has pdl_wait(). PTX of an older architecture does not,
// though the GPU that it is translated for may honour the launch attribute.
template <auto kernel>
bool has_pdl() {
  static const bool has = [] {
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)) ==
               cudaSuccess &&
           attributes.ptxVersion >= 90;
  }();
  return has;
}

// Allows a kernel what the launch needs beyond what every kernel may have.
template <auto kernel>
cudaError_t allow(const LaunchConfig& config) {
  // Without opting in, a block may have 48 KiB, a part of which the kernel itself declares.
  constexpr size_t kSharedWithoutOptIn = 32 * 1024;
  const auto function = reinterpret_cast<const void*>(kernel);
  cudaError_t status = cudaSuccess;
  if (config.shared_bytes > kSharedWithoutOptIn) {
    status = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(config.shared_bytes));
  }
  if (status == cudaSuccess && config.blocks_of_cluster() > kMostBlocksOfPortableCluster) {
    status = cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  }
  return status;
}

// A launch as the runtime takes it, with room for its attributes.
struct LaunchCall {
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t launch = {};

  LaunchCall(const LaunchConfig& config, bool has_pdl) {
    launch.gridDim = config.grid;
    launch.blockDim = config.block;
    launch.dynamicSmemBytes = config.shared_bytes;
    launch.stream = config.stream;
    launch.attrs = attributes;
    if (config.pdl && has_pdl) {
      cudaLaunchAttribute& attribute = attributes[launch.numAttrs++];
      attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attribute.val.programmaticStreamSerializationAllowed = 1;
    }
    if (config.blocks_of_cluster() > 1) {
      cudaLaunchAttribute& attribute = attributes[launch.numAttrs++];
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim = {config.cluster.x, config.cluster.y, config.cluster.z};
    }
  }
  LaunchCall(const LaunchCall&) = delete;
};

// Loads kernels on the current device, once. Otherwise each is loaded at its first launch, which
// waits for all that run there: for ever, where one of them waits for what comes behind that
// launch.
template <auto... kernels>
cudaError_t load_kernels() {
  constexpr int kMostDevices = 64;
  static std::atomic<bool> loaded[kMostDevices];
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess || device >= kMostDevices || loaded[device]) return status;
  for (const void* kernel : {reinterpret_cast<const void*>(kernels)...}) {
    cudaFuncAttributes attributes;
    status = cudaFuncGetAttributes(&attributes, kernel);
    if (status != cudaSuccess) return status;
  }
  loaded[device] = true;
  return cudaSuccess;
}

template <auto kernel, typename... Args>
cudaError_t launch(const LaunchConfig& config, Args&&... args) {
  const cudaError_t status = allow<kernel>(config);
  if (status != cudaSuccess) return status;
  const LaunchCall call(config, has_pdl<kernel>());
  return cudaLaunchKernelEx(&call.launch, kernel, std::forward<Args>(args)...);
}

}  // namespace fictl::device
