// Warp operations whose mask is not that of the lanes that take part.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "defects.cuh"

namespace cg = cooperative_groups;

KERNEL(exchange_beyond_the_mask) {
  if (threadIdx.x < 16) {
    y[threadIdx.x] = __shfl_xor_sync(0x0000ffff, x[threadIdx.x], BUG ? 16 : 8);
  }
}
DEFECT(exchange_beyond_the_mask, 1, 32, 0)

KERNEL(broadcast_from_outside_the_mask) {
  const int source = BUG ? 0 : 1;
  if (threadIdx.x > 0) y[threadIdx.x] = __shfl_sync(0xfffffffe, x[threadIdx.x], source);
}
DEFECT(broadcast_from_outside_the_mask, 1, 32, 0)

KERNEL(tree_over_more_than_the_mask) {
  if (threadIdx.x < 16) {
    float sum = x[threadIdx.x];
    for (int distance = BUG ? 16 : 8; distance > 0; distance /= 2) {
      sum += __shfl_down_sync(0x0000ffff, sum, distance);
    }
    if (threadIdx.x == 0) y[0] = sum;
  }
}
DEFECT(tree_over_more_than_the_mask, 1, 32, 0)

// A tree is for powers of two.
KERNEL(tree_over_an_odd_number) {
  constexpr unsigned kMask = BUG ? 0x000fffff : 0x0000ffff;
  if (kMask >> threadIdx.x & 1) {
    float sum = x[threadIdx.x];
    for (int distance = BUG ? 16 : 8; distance > 0; distance /= 2) {
      sum += __shfl_down_sync(kMask, sum, distance);
    }
    if (threadIdx.x == 0) y[0] = sum;
  }
}
DEFECT(tree_over_an_odd_number, 1, 32, 0)

KERNEL(lane_missing_in_the_middle) {
  const unsigned mask = BUG ? ~(1u << 7) : ~0u;
  if (mask >> threadIdx.x & 1) y[threadIdx.x] = __shfl_up_sync(mask, x[threadIdx.x], 1);
}
DEFECT(lane_missing_in_the_middle, 1, 32, 0)

KERNEL(tree_over_a_short_block) {
  float sum = x[threadIdx.x];
  for (int distance = BUG ? 16 : 8; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(~0u, sum, distance);
  }
  if (threadIdx.x == 0) y[0] = sum;
}
DEFECT(tree_over_a_short_block, 1, 16, 0)

KERNEL(lanes_that_returned) {
  if (BUG && threadIdx.x >= n) return;
  float sum = threadIdx.x < n ? x[threadIdx.x] : 0.0f;
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
  if (threadIdx.x == 0) y[0] = sum;
}
DEFECT(lanes_that_returned, 1, 32, 0)

KERNEL(reduction_over_lanes_that_returned) {
  if (BUG && threadIdx.x >= 20) return;
  y[threadIdx.x] = __reduce_add_sync(~0u, threadIdx.x);
}
DEFECT(reduction_over_lanes_that_returned, 1, 32, 0)

KERNEL(match_with_lanes_that_returned) {
  if (BUG && threadIdx.x == 31) return;
  y[threadIdx.x] = __popc(__match_any_sync(~0u, threadIdx.x % 3));
}
DEFECT(match_with_lanes_that_returned, 1, 32, 0)

KERNEL(lanes_that_never_call) {
  float value = x[threadIdx.x];
  if (!BUG || threadIdx.x % 2 == 0) value += __shfl_xor_sync(~0u, value, 2);
  y[threadIdx.x] = value;
}
DEFECT(lanes_that_never_call, 1, 32, 0)

KERNEL(two_masks_of_one_shuffle) {
  const unsigned mask = BUG && threadIdx.x < 16 ? 0x0000ffff : ~0u;
  y[threadIdx.x] = __shfl_xor_sync(mask, x[threadIdx.x], 1);
}
DEFECT(two_masks_of_one_shuffle, 1, 32, 0)

KERNEL(two_masks_of_one_ballot) {
  const unsigned mask = BUG && threadIdx.x < 16 ? 0x0000ffff : ~0u;
  y[threadIdx.x] = __ballot_sync(mask, threadIdx.x % 2);
}
DEFECT(two_masks_of_one_ballot, 1, 32, 0)

KERNEL(two_masks_of_one_syncwarp) {
  __syncwarp(BUG && threadIdx.x < 16 ? 0x0000ffff : ~0u);
  y[threadIdx.x] = x[threadIdx.x];
}
DEFECT(two_masks_of_one_syncwarp, 1, 32, 0)

// Each half waits for lanes that have named others.
KERNEL(two_masks_that_wait_for_each_other) {
  const unsigned mask = BUG ? (threadIdx.x < 16 ? ~0u : ~1u) : ~0u;
  const unsigned all = __ballot_sync(mask, x[threadIdx.x] > 0.0f);
  __syncthreads();
  y[threadIdx.x] = all;
}
DEFECT(two_masks_that_wait_for_each_other, 1, 32, 0)

// What was active within the branch is not what is active behind it.
KERNEL(activemask_of_a_branch) {
  unsigned mask = ~0u;
  if (threadIdx.x < 20) mask = BUG ? __activemask() : ~0u;
  y[threadIdx.x] = __shfl_xor_sync(BUG ? 0x000fffff & mask : mask, x[threadIdx.x], 1);
}
DEFECT(activemask_of_a_branch, 1, 32, 0)

KERNEL(any_in_a_branch) {
  if (threadIdx.x < 8) {
    const unsigned mask = BUG ? 0x0000000f : 0x000000ff;
    y[threadIdx.x] = __any_sync(mask, x[threadIdx.x] > 0.0f);
  }
}
DEFECT(any_in_a_branch, 1, 32, 0)

KERNEL(shuffle_in_ptx) {
  float value = x[threadIdx.x];
  if (threadIdx.x < 16) {
    asm volatile("shfl.sync.bfly.b32 %0, %0, %1, 31, %2;"
                 : "+f"(value)
                 : "r"(BUG ? 16 : 8), "r"(0x0000ffff));
  }
  y[threadIdx.x] = value;
}
DEFECT(shuffle_in_ptx, 1, 32, 0)

KERNEL(reduction_in_ptx) {
  if (BUG && threadIdx.x >= 24) return;
  unsigned sum;
  asm volatile("redux.sync.add.u32 %0, %1, %2;" : "=r"(sum) : "r"(threadIdx.x), "r"(~0u));
  y[threadIdx.x] = sum;
}
DEFECT(reduction_in_ptx, 1, 32, 0)

KERNEL(vote_in_ptx) {
  unsigned votes;
  const unsigned mask = BUG ? 0xfffffff0 : ~0u;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
               : "=r"(votes)
               : "r"(threadIdx.x % 2), "r"(mask));
  y[threadIdx.x] = votes;
}
DEFECT(vote_in_ptx, 1, 32, 0)

KERNEL(warp_barrier_in_ptx) {
  const unsigned mask = BUG && threadIdx.x < 16 ? 0x0000ffff : ~0u;
  asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
  y[threadIdx.x] = x[threadIdx.x];
}
DEFECT(warp_barrier_in_ptx, 1, 32, 0)

KERNEL(tile_with_lanes_that_returned) {
  if (BUG && threadIdx.x >= 30) return;
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  y[threadIdx.x] = tile.shfl_xor(x[threadIdx.x], 1);
}
DEFECT(tile_with_lanes_that_returned, 1, 32, 0)

KERNEL(tile_in_a_branch) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  float sum = x[threadIdx.x];
  if (!BUG || tile.thread_rank() < 8) sum = cg::reduce(tile, sum, cg::plus<float>());
  y[threadIdx.x] = sum;
}
DEFECT(tile_in_a_branch, 1, 32, 0)

KERNEL(matrix_without_some_lanes) {
  if (BUG && threadIdx.x >= 16) return;
  unsigned value = threadIdx.x;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(value));
  y[threadIdx.x] = value;
}
DEFECT(matrix_without_some_lanes, 1, 32, 0)
