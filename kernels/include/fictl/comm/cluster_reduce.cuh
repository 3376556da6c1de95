// Reductions over the threads of a cluster, which share a row.
#pragma once

#include <fictl/device/cluster.cuh>
#include <fictl/device/reduce.cuh>

namespace fictl::comm {

// Called by all threads of the cluster, any number of times, behind a first sync() of the cluster:
// before that a block may not have begun. A cluster has up to 32 warps.
//
// Every warp writes its result to all blocks, so that there is one barrier a reduction; halves of
// the storage take turns, as in device::BlockReduce. All combine the results by the place of the
// warp in the row: how many blocks a row is spread over does not change the sum.
class ClusterReduce {
 public:
  struct Storage {
    float partials[2][device::kWarpSize];
  };

  __device__ explicit ClusterReduce(Storage& storage) : storage_(storage) {}

  template <typename Op>
  __device__ float operator()(Op op, float x) {
    using device::Cluster;
    constexpr int kWarpSize = device::kWarpSize;
    float* partials = storage_.partials[half_];
    half_ ^= 1;
    const int lane = threadIdx.x % kWarpSize;
    const int warps = blockDim.x / kWarpSize;
    const int warp = Cluster::rank() * warps + threadIdx.x / kWarpSize;
    x = device::warp_reduce(op, x);
    if (lane < Cluster::size()) *Cluster::at(&partials[warp], lane) = x;
    Cluster::sync();
    const bool has = lane < Cluster::size() * warps;
    return device::warp_reduce(op, has ? partials[lane] : Op::kNone);
  }

 private:
  Storage& storage_;
  int half_ = 0;
};

}  // namespace fictl::comm
