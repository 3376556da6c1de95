// Sums of tiles that several workers divide: those with a later part of K leave theirs in memory,
// the one with the first part adds them in their order.
//
// Memory, for each block of the grid: its sums, thread by thread, and a flag for each warpgroup.
// The flags are zero when the kernel starts.
#pragma once

#include <fictl/gemm/sm90/sums.cuh>
#include <fictl/gemm/sm90/work.cuh>

namespace fictl::gemm {

template <typename Tile>
struct PartialSums {
  static constexpr int64_t kBlockFloats =
      int64_t{kConsumers} * device::kWarpgroup * kSumFloats<Tile>;

  float* sums;
  int* flags;

  static PartialSums in(void* workspace, int blocks) {
    auto* sums = static_cast<float*>(workspace);
    return {sums, reinterpret_cast<int*>(sums + blocks * kBlockFloats)};
  }
  static int64_t bytes(int blocks) { return blocks * (kBlockFloats * 4 + flag_bytes(1)); }
  static constexpr int64_t flag_bytes(int blocks) { return int64_t{blocks} * kConsumers * 4; }

  __device__ float4* of(int block, int part, int thread) const {
    float* begin = sums + block * kBlockFloats + part * device::kWarpgroup * kSumFloats<Tile>;
    return reinterpret_cast<float4*>(begin) + thread;
  }

  __device__ void leave(const Sums<Tile>& mine, int block, int part, int thread) const {
    leave_sums<Tile>(mine, of(block, part, thread));
    __threadfence();
  }
  // By one thread, after a barrier of those that have called leave().
  __device__ void announce(int block, int part) const {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flags + block * kConsumers + part),
                 "r"(1)
                 : "memory");
  }

  __device__ void add(Sums<Tile>& mine, int block, int part, int thread) const {
    const int* flag = flags + block * kConsumers + part;
    int is_there;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(is_there) : "l"(flag) : "memory");
    } while (is_there == 0);
    add_sums<Tile>(mine, of(block, part, thread), [](const float4* at) { return __ldcg(at); });
  }
};

}  // namespace fictl::gemm
