// Barrier in shared memory that counts arrivals of threads and bytes of asynchronous copies.
//
//            phase 0                     phase 1
//   parity 0 ----------------------> 1 ------------------> 0
//            arrivals 1 of 1             ...
//            bytes    32768 of 32768
//
// A phase ends when both counts are complete; then the parity flips and the counts start anew. A
// thread that waits for a parity returns when the phase of that parity is over. It may therefore be
// at most one phase behind.
#pragma once

#include <stdint.h>

#include <fictl/device/shared.cuh>

namespace fictl::device {

struct alignas(8) Mbarrier {
  uint64_t word;

  __device__ uint32_t address() const { return shared_address(this); }

  // By one thread, before anyone uses it; then fence_mbarrier_init() and a barrier of the block or
  // the cluster.
  __device__ void init(uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals)
                 : "memory");
  }

  // Before its memory is used for something else.
  __device__ void invalidate() {
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address()) : "memory");
  }

  __device__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory");
  }

  // Announces copies of `bytes` into this phase, then arrives. Expect whole boxes: what lies beyond
  // the tensor counts, too.
  __device__ void arrive_and_expect(uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()),
                 "r"(bytes)
                 : "memory");
  }

  __device__ void expect(uint32_t bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(address()),
                 "r"(bytes)
                 : "memory");
  }

  // Arrives at the barrier that has this place in the block of that rank in the cluster.
  __device__ void arrive_at(uint32_t rank) {
    asm volatile(
        "{\n"
        ".reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n"
        "}" ::"r"(address()),
        "r"(rank)
        : "memory");
  }

  // The same for a thread whose ordinary accesses need no order: wgmma alone has read the stage,
  // say, and the thread has waited for it. Why: a release across the cluster, as above, waits until
  // all that the GPU's threads have written is visible, which took a third of a GEMM's time.
  __device__ void arrive_unordered_at(uint32_t rank) {
    asm volatile(
        "{\n"
        ".reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [there];\n"
        "}" ::"r"(address()),
        "r"(rank)
        : "memory");
  }

  // Arrives once all cp.async of this thread so far have landed. The barrier counts this arrival:
  // it is one of those that init() was told.
  __device__ void arrive_after_copies() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(address())
                 : "memory");
  }

  // True if the phase of that parity is over. May wait a while before it says no.
  __device__ bool try_wait(uint32_t parity) {
    uint32_t is_over;
    asm volatile(
        "{\n"
        ".reg .pred over;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
        "selp.b32 %0, 1, 0, over;\n"
        "}"
        : "=r"(is_over)
        : "r"(address()), "r"(parity)
        : "memory");
    return is_over != 0;
  }

  __device__ void wait(uint32_t parity) {
    while (!try_wait(parity)) continue;
  }

  // wait() that also sees what threads of other blocks of the cluster wrote before they arrived.
  __device__ void wait_for_cluster(uint32_t parity) {
    uint32_t is_over;
    do {
      asm volatile(
          "{\n"
          ".reg .pred over;\n"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 over, [%1], %2;\n"
          "selp.b32 %0, 1, 0, over;\n"
          "}"
          : "=r"(is_over)
          : "r"(address()), "r"(parity)
          : "memory");
    } while (is_over == 0);
  }
};

// Makes initialised barriers known to the copy engine and to the other blocks of the cluster.
__device__ inline void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

}  // namespace fictl::device
