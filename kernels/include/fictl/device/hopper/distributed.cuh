// Distributed shared memory: stores into other blocks of the cluster that count as bytes at a
// barrier there. cluster.cuh has ranks, addresses and the barrier of a cluster.
//
// Before the first such access all blocks must have begun, and a block must not end while another
// one may still reach it: a Cluster::sync() at both ends.
#pragma once

#include <stdint.h>

#include <fictl/device/cluster.cuh>
#include <fictl/device/hopper/mbarrier.cuh>

namespace fictl::device {

// The 32-bit address, in the block of that rank, of what this block has at `shared`.
__device__ inline uint32_t address_at(const void* shared, uint32_t rank) {
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(shared_address(shared)), "r"(rank));
  return there;
}

// Stores 16 bytes at the place of `to` in the block of that rank; they complete at the barrier that
// has the place of `barrier` there.
__device__ inline void store_async(void* to, Mbarrier& barrier, uint32_t rank, uint4 value) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(address_at(to, rank)),
      "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w), "r"(address_at(&barrier, rank))
      : "memory");
}

}  // namespace fictl::device
