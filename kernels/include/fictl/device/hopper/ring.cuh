// Ring of stages in shared memory: a producer fills them by asynchronous copies, consumers use them
// and hand them back.
//
//   producer                                 consumer
//     ring.wait_empty(at)                      ring.wait_full(at)
//     ring.expect(at, bytes)                   ... wgmma on stage at.stage ...
//     load_tensor(..., ring.full[at.stage])    ring.release(at)      one lane a warp
//     at.advance()                             at.advance()
//
// Why one arrival a consumer warp: a warp's wait for its wgmma covers all that this warp has read,
// and no more. Both sides begin with RingPosition{}; a producer's first round finds all stages
// empty, since wait_empty() asks for the phase before.
#pragma once

#include <fictl/device/hopper/mbarrier.cuh>

namespace fictl::device {

template <int kStages>
struct RingPosition {
  int stage = 0;
  uint32_t parity = 0;

  __device__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
  // Passes over stages that another consumer uses.
  __device__ void skip(int count) {
    stage += count;
    parity ^= stage / kStages & 1;
    stage %= kStages;
  }
};

template <int kStages>
struct Ring {
  using Position = RingPosition<kStages>;

  Mbarrier full[kStages];
  Mbarrier empty[kStages];

  // By one thread. `consumer_warps`: of all blocks that a stage's bytes go to. `producers`: threads
  // that arrive at a full stage; each of those that copy it by cp.async does.
  __device__ void init(uint32_t consumer_warps, uint32_t producers = 1) {
    for (int i = 0; i < kStages; ++i) {
      full[i].init(producers);
      empty[i].init(consumer_warps);
    }
    fence_mbarrier_init();
  }

  // ---- producer ----

  __device__ void wait_empty(const Position& at) { empty[at.stage].wait(at.parity ^ 1); }
  __device__ void expect(const Position& at, uint32_t bytes) {
    full[at.stage].arrive_and_expect(bytes);
  }
  // At its end, a block of a cluster waits until no other one uses what it has sent.
  __device__ void drain(Position at) {
    for (int i = 0; i < kStages; ++i, at.advance()) wait_empty(at);
  }

  // ---- consumers ----

  __device__ void wait_full(const Position& at) { full[at.stage].wait(at.parity); }
  __device__ void release(const Position& at) { empty[at.stage].arrive(); }
  // The same at the producer of the block of that rank in the cluster, when wgmma alone has read
  // the stage; a warp that has read it by ordinary loads calls empty[...].arrive_at().
  __device__ void release_at(const Position& at, uint32_t rank) {
    empty[at.stage].arrive_unordered_at(rank);
  }
};

}  // namespace fictl::device
