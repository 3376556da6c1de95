// Bulk copies: one thread asks, the copy engine moves a whole tile.
//
//   load    global -> shared   completes at an mbarrier, which expects all bytes of the box
//   store   shared -> global   bulk_commit(), then bulk_wait_read() by the same thread before the
//                              tile is written again; bulk_wait() before others read the result
//   reduce  shared -> global   adds instead
//
// Tiles in shared memory begin at multiples of 128 bytes, swizzled ones at those of their pattern.
// Coordinates are in elements, the innermost first, and may lie outside of the tensor. What a store
// reads has been written by ordinary stores: fence_async_shared() and a barrier come before it.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <stdint.h>

#include <fictl/device/hopper/mbarrier.cuh>
#include <fictl/device/shared.cuh>

namespace fictl::device {

// How long L2 keeps what is loaded.
enum class CacheHint : uint64_t {
  kNormal = 0x1000000000000000,
  kEvictFirst = 0x12F0000000000000,
  kEvictLast = 0x14F0000000000000,
};

// Fetches the descriptor itself, before the first copy needs it.
__device__ inline void prefetch_tensor_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

#define FICTL_TENSOR_LOAD(DIM, COORDINATES)                                               \
  "cp.async.bulk.tensor." DIM                                                             \
  "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, " \
  "{" COORDINATES "}], [%2], %3;"
#define FICTL_TENSOR_MULTICAST(DIM, COORDINATES)                                  \
  "cp.async.bulk.tensor." DIM                                                     \
  "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster" \
  ".L2::cache_hint [%0], [%1, {" COORDINATES "}], [%2], %4, %3;"

// ---- loads ----

__device__ inline void load_tensor(void* to, const CUtensorMap& map, Mbarrier& barrier, int c0,
                                   int c1, CacheHint hint = CacheHint::kNormal) {
  asm volatile(FICTL_TENSOR_LOAD("2", "%4, %5")::"r"(shared_address(to)), "l"(&map),
               "r"(barrier.address()), "l"(static_cast<uint64_t>(hint)), "r"(c0), "r"(c1)
               : "memory");
}

__device__ inline void load_tensor(void* to, const CUtensorMap& map, Mbarrier& barrier, int c0,
                                   int c1, int c2, CacheHint hint = CacheHint::kNormal) {
  asm volatile(FICTL_TENSOR_LOAD("3", "%4, %5, %6")::"r"(shared_address(to)), "l"(&map),
               "r"(barrier.address()), "l"(static_cast<uint64_t>(hint)), "r"(c0), "r"(c1), "r"(c2)
               : "memory");
}

__device__ inline void load_tensor(void* to, const CUtensorMap& map, Mbarrier& barrier, int c0,
                                   int c1, int c2, int c3, CacheHint hint = CacheHint::kNormal) {
  asm volatile(FICTL_TENSOR_LOAD("4", "%4, %5, %6, %7")::"r"(shared_address(to)), "l"(&map),
               "r"(barrier.address()), "l"(static_cast<uint64_t>(hint)), "r"(c0), "r"(c1), "r"(c2),
               "r"(c3)
               : "memory");
}

__device__ inline void load_tensor(void* to, const CUtensorMap& map, Mbarrier& barrier, int c0,
                                   int c1, int c2, int c3, int c4,
                                   CacheHint hint = CacheHint::kNormal) {
  asm volatile(FICTL_TENSOR_LOAD("5", "%4, %5, %6, %7, %8")::"r"(shared_address(to)), "l"(&map),
               "r"(barrier.address()), "l"(static_cast<uint64_t>(hint)), "r"(c0), "r"(c1), "r"(c2),
               "r"(c3), "r"(c4)
               : "memory");
}

// The same tile for every block of the cluster whose bit is set in `blocks`: it goes to the same
// place in each, and completes at the same barrier there, which expects its bytes as well.
__device__ inline void load_tensor_multicast(void* to, const CUtensorMap& map, Mbarrier& barrier,
                                             uint16_t blocks, int c0, int c1,
                                             CacheHint hint = CacheHint::kNormal) {
  asm volatile(FICTL_TENSOR_MULTICAST("2", "%5, %6")::"r"(shared_address(to)), "l"(&map),
               "r"(barrier.address()), "l"(static_cast<uint64_t>(hint)), "h"(blocks), "r"(c0),
               "r"(c1)
               : "memory");
}

__device__ inline void load_tensor_multicast(void* to, const CUtensorMap& map, Mbarrier& barrier,
                                             uint16_t blocks, int c0, int c1, int c2,
                                             CacheHint hint = CacheHint::kNormal) {
  asm volatile(FICTL_TENSOR_MULTICAST("3", "%5, %6, %7")::"r"(shared_address(to)), "l"(&map),
               "r"(barrier.address()), "l"(static_cast<uint64_t>(hint)), "h"(blocks), "r"(c0),
               "r"(c1), "r"(c2)
               : "memory");
}

__device__ inline void load_tensor_multicast(void* to, const CUtensorMap& map, Mbarrier& barrier,
                                             uint16_t blocks, int c0, int c1, int c2, int c3,
                                             CacheHint hint = CacheHint::kNormal) {
  asm volatile(FICTL_TENSOR_MULTICAST("4", "%5, %6, %7, %8")::"r"(shared_address(to)), "l"(&map),
               "r"(barrier.address()), "l"(static_cast<uint64_t>(hint)), "h"(blocks), "r"(c0),
               "r"(c1), "r"(c2), "r"(c3)
               : "memory");
}

// Contiguous bytes without a map: both addresses and the number are multiples of 16.
__device__ inline void load_bulk(void* to, const void* from, uint32_t bytes, Mbarrier& barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(barrier.address())
      : "memory");
}

// ---- stores ----

__device__ inline void store_tensor(const CUtensorMap& map, const void* from, int c0, int c1) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
          &map),
      "r"(shared_address(from)), "r"(c0), "r"(c1)
      : "memory");
}

__device__ inline void store_tensor(const CUtensorMap& map, const void* from, int c0, int c1,
                                    int c2) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(
          &map),
      "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}

__device__ inline void store_tensor(const CUtensorMap& map, const void* from, int c0, int c1,
                                    int c2, int c3) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], "
      "[%1];" ::"l"(&map),
      "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}

__device__ inline void store_bulk(void* to, const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
}

// ---- reductions: the order of the additions varies from run to run ----

__device__ inline void add_tensor(const CUtensorMap& map, const void* from, int c0, int c1) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], "
      "[%1];" ::"l"(&map),
      "r"(shared_address(from)), "r"(c0), "r"(c1)
      : "memory");
}

__device__ inline void add_tensor(const CUtensorMap& map, const void* from, int c0, int c1,
                                  int c2) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3, %4}], "
      "[%1];" ::"l"(&map),
      "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}

__device__ inline void add_bulk(float* to, const float* from, uint32_t bytes) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to),
      "r"(shared_address(from)), "r"(bytes)
      : "memory");
}

__device__ inline void add_bulk(__nv_bfloat16* to, const __nv_bfloat16* from, uint32_t bytes) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], %2;" ::"l"(to),
      "r"(shared_address(from)), "r"(bytes)
      : "memory");
}

// ---- groups of stores and reductions, of the thread that asks ----

__device__ inline void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Until at most the newest kPending groups still read their tiles.
template <int kPending>
__device__ void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Until at most the newest kPending groups have not written everything.
template <int kPending>
__device__ void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}

#undef FICTL_TENSOR_LOAD
#undef FICTL_TENSOR_MULTICAST

}  // namespace fictl::device
