// Turns of a workspace: calls that push into a peer's memory use its two halves by turns, and have
// one barrier each.
//
// Why two are enough: a rank that writes in turn n + 2 has ended turn n + 1, in which every peer
// came to a barrier behind its turn n; so nobody reads any more what turn n wrote. Why the number
// is in memory: replays of a graph count on, whatever was launched between them.
#pragma once

#include <fictl/comm/peers.cuh>

namespace fictl::comm {

// The half of this call, as an offset into the data of any rank; `bytes` is the room of a rank.
__device__ inline int64_t turn_offset(const Peers& peers, int64_t bytes) {
  const volatile uint32_t* turn = &peers.own_header().turns[blockIdx.x];
  return (*turn & 1) * (bytes / 2);
}

// Counts this call. Every block calls it once, with all threads, anywhere behind its last
// turn_offset(): best where it waits for peers anyway.
__device__ inline void end_turn(const Peers& peers) {
  volatile uint32_t* turns = peers.own_header().turns;
  for_each_copy([&](int copy) { turns[copy] = turns[copy] + 1; });
}

}  // namespace fictl::comm
