// Clusters: up to 8 thread blocks (16 where a kernel asks for them) that run together and reach one
// another's shared memory.
//
// On GPUs without clusters (before sm_90) every block is a cluster of its own, and the host
// launches no larger ones.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

#include <atomic>

#include <fictl/device/launch.cuh>

namespace fictl::device {

constexpr int kMostBlocksOfCluster = kMostBlocksOfPortableCluster;

class Cluster {
 public:
  // The rank of this block in its cluster.
  __device__ static int rank() {
#ifdef FICTL_HAS_CLUSTERS
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return static_cast<int>(rank);
#else
    return 0;
#endif
  }

  __device__ static int size() {
#ifdef FICTL_HAS_CLUSTERS
    uint32_t size;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return static_cast<int>(size);
#else
    return 1;
#endif
  }

  // The place of this cluster in a grid of one dimension, and how many that has.
  __device__ static int index() {
#ifdef FICTL_HAS_CLUSTERS
    uint32_t index;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(index));
    return static_cast<int>(index);
#else
    return static_cast<int>(blockIdx.x);
#endif
  }

  __device__ static int count() {
#ifdef FICTL_HAS_CLUSTERS
    uint32_t count;
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(count));
    return static_cast<int>(count);
#else
    return static_cast<int>(gridDim.x);
#endif
  }

  // __syncthreads() for all threads of all blocks. Shared memory of another block may be touched
  // only between two of these: before the first it may not have started, after the last it may
  // have ended.
  __device__ static void sync() {
#ifdef FICTL_HAS_CLUSTERS
    if (size() > 1) {
      arrive();
      wait();
      return;
    }
#endif
    __syncthreads();
  }

  // The two halves of sync(). A block that touches no other one's memory any more, and whose own
  // nobody does, may end after arrive() alone.
  __device__ static void arrive() {
#ifdef FICTL_HAS_CLUSTERS
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
  }
  // Arrives where a block has only started, and left nothing for others yet: without the fence of
  // all memory that a release is.
  __device__ static void arrive_started() {
#ifdef FICTL_HAS_CLUSTERS
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
  }
  __device__ static void wait() {
#ifdef FICTL_HAS_CLUSTERS
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
    __syncthreads();
#endif
  }

  // The address, in the block of that rank, of what this block has at `shared`.
  template <typename T>
  __device__ static T* at(T* shared, int rank) {
#ifdef FICTL_HAS_CLUSTERS
    uint64_t there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
    return reinterpret_cast<T*>(there);
#else
    static_cast<void>(rank);
    return shared;
#endif
  }
};

// The number of blocks that share a row, a power of two. It is as many as find an SM each at once,
// if each has at least `least` elements. Why not as many as there are SMs: a cluster stays within a
// GPC, and the rest of a GPC may be too small for another one. Clusters of 8 or 4 leave up to a
// quarter of an H200's 132 SMs empty, and those that did not fit run in a second wave.
template <auto kernel>
int blocks_a_row(int64_t rows, int64_t elements, int64_t least, int sm_count) {
  int blocks = 1;
  if (!has_pdl<kernel>()) return blocks;  // Code for sm_90 or newer has both.
  while (blocks < kMostBlocksOfCluster && elements >= least * blocks * 2) {
    const int64_t room = blocks == 1 ? sm_count : sm_count * 3 / 4;
    if (rows * blocks * 2 > room) break;
    blocks *= 2;
  }
  return blocks;
}

// How many clusters of a kernel run at once on the current device, 0 where that is not known. Asked
// once for each size: block and shared memory are to be the same in all calls for a kernel.
template <auto kernel>
int active_clusters(const LaunchConfig& config) {
  constexpr int kMostDevices = 64, kMostBlocks = 16;
  static std::atomic<int> known[kMostDevices][kMostBlocks + 1];  // and one more
  const unsigned blocks = config.blocks_of_cluster();
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device >= kMostDevices || blocks > kMostBlocks) {
    return 0;
  }
  std::atomic<int>& entry = known[device][blocks];
  if (entry == 0) {
    int clusters = 0;
    const LaunchCall call(config, false);
    if (allow<kernel>(config) != cudaSuccess ||
        cudaOccupancyMaxActiveClusters(&clusters, reinterpret_cast<const void*>(kernel),
                                       &call.launch) != cudaSuccess) {
      cudaGetLastError();  // It is not of the launch that follows.
      clusters = 0;
    }
    entry = clusters + 1;
  }
  return entry - 1;
}

}  // namespace fictl::device
