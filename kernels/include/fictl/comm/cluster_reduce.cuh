// Reductions over the threads of a cluster, or of a block, which share a row.
#pragma once

#include <fictl/device/cluster.cuh>
#include <fictl/device/reduce.cuh>

namespace fictl::comm {

// The place of a block among those that share a row: of a cluster, or alone.
template <bool kClusters>
struct RowGrid {
  __device__ static int rank() { return kClusters ? device::Cluster::rank() : 0; }
  __device__ static int size() { return kClusters ? device::Cluster::size() : 1; }
  __device__ static int index() {
    return kClusters ? device::Cluster::index() : static_cast<int>(blockIdx.x);
  }
  __device__ static int count() {
    return kClusters ? device::Cluster::count() : static_cast<int>(gridDim.x);
  }
  template <typename T>
  __device__ static T* at(T* shared, int rank) {
    return kClusters ? device::Cluster::at(shared, rank) : shared;
  }
  __device__ static void sync() {
    if (kClusters) {
      device::Cluster::sync();
    } else {
      __syncthreads();
    }
  }
};

// Called by all threads of a row, any number of times, behind a first sync() of the cluster: before
// that a block may not have begun. A row has up to 32 warps and 64 times 32 vectors.
//
// Every warp writes its result to all blocks, so that there is one barrier a reduction; halves of
// the storage take turns, as in device::BlockReduce. Values of 32 adjacent vectors are combined
// first, and then their results by their place in the row: neither the blocks that a row is spread
// over nor the vectors that a thread has change the sum.
template <bool kClusters>
class RowReduce {
 public:
  using Grid = RowGrid<kClusters>;
  static constexpr int kMostPartials = 2 * device::kWarpSize;

  struct Storage {
    float partials[2][kMostPartials];
  };

  __device__ explicit RowReduce(Storage& storage) : storage_(storage) {}

  // x has the values of a thread's vectors, as RowPlace counts them.
  template <typename Op, int kVecs>
  __device__ float operator()(Op op, const float (&x)[kVecs]) {
    constexpr int kWarpSize = device::kWarpSize;
    float* partials = storage_.partials[half_];
    half_ ^= 1;
    const int lane = threadIdx.x % kWarpSize;
    const int warps = blockDim.x / kWarpSize;
    const int warp = Grid::rank() * warps + threadIdx.x / kWarpSize;
    const int step = Grid::size() * warps;
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const float partial = device::warp_reduce(op, x[i]);
      if (lane < Grid::size()) *Grid::at(&partials[warp + i * step], lane) = partial;
    }
    Grid::sync();
    const int count = step * kVecs;
    float all = lane < count ? partials[lane] : Op::kNone;
    if (lane + kWarpSize < count) all = op(all, partials[lane + kWarpSize]);
    return device::warp_reduce(op, all);
  }

  template <typename Op>
  __device__ float operator()(Op op, float x) {
    const float one[1] = {x};
    return (*this)(op, one);
  }

 private:
  Storage& storage_;
  int half_ = 0;
};

}  // namespace fictl::comm
