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
  const volatile uint32_t* turn = &peers.own_header().state[kTurnWord];
  return (*turn & 1) * (bytes / 2);
}

// Every block calls it once, at its end: the last one ends the turn.
__device__ inline void end_turn(const Peers& peers) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  uint32_t* state = peers.own_header().state;
  __threadfence();
  if (atomicAdd(&state[kTicketWord], 1u) + 1 < gridDim.x) return;
  state[kTicketWord] = 0;
  state[kTurnWord] += 1;
}

}  // namespace fictl::comm
