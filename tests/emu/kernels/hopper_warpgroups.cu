// setmaxnreg and named barriers: what is right, and what each of their rules refuses.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

template <int registers>
__device__ void give() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ void take() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}
__device__ void sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ void arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// ---- registers: three warpgroups begin with 168 each ----

enum Registers {
  kHandedOver,
  kTooMany,
  kRaisedByDec,
  kLoweredByInc,
  kTooFew,
  kUneven,
  kWarpsDiffer,
  kWarpMissing,
};

// `tickets`: when each warpgroup has come this far.
__global__ void __launch_bounds__(384, 1) HandOver(int how, int* tickets) {
  __shared__ int next;
  const int group = threadIdx.x / 128, warp = threadIdx.x / 32;
  const auto is = [=](Registers other) { return how == other; };
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  if (group == 0) {
    if (threadIdx.x == 0) tickets[0] = atomicAdd(&next, 1);
    if (is(kRaisedByDec)) give<200>();
    if (is(kLoweredByInc)) take<24>();
    if (is(kTooFew)) give<16>();
    if (is(kUneven)) give<100>();
    if (is(kWarpMissing) && warp == 3) sync(1, 64);
    if (is(kTooMany)) {
      give<40>();
    } else if (is(kWarpsDiffer) && warp == 3) {
      give<32>();
    } else {
      give<24>();
    }
  } else {
    take<240>();
    if (threadIdx.x % 128 == 0) tickets[group] = atomicAdd(&next, 1);
  }
}

// ---- named barriers ----

// A ring of one slot: warp 0 fills it, warps 1 and 2 sum.
__global__ void Signals(int turns, int* sums) {
  enum { kFull = 1, kFree = 2, kAll = 96 };
  __shared__ int slot;
  int sum = 0;
  for (int turn = 0; turn < turns; ++turn) {
    if (threadIdx.x < 32) {
      if (turn > 0) sync(kFree, kAll);
      if (threadIdx.x == 0) slot = turn * turn;
      arrive(kFull, kAll);
    } else {
      sync(kFull, kAll);
      sum += slot;
      if (turn + 1 < turns) arrive(kFree, kAll);
    }
  }
  if (threadIdx.x >= 32) sums[threadIdx.x - 32] = sum;
}

// Lanes that have returned count: a barrier counts whole warps.
__global__ void Halves(int* sums) {
  __shared__ int slot;
  if (threadIdx.x % 32 >= 20) return;
  if (threadIdx.x == 0) slot = 7;
  sync(3, 64);
  if (threadIdx.x >= 32) sums[threadIdx.x - 32] = slot;
}

enum Barriers { kOneLane, kArriveOfOneLane, kTwice, kTwoNumbers, kSeventeenth, kFortyEight };

__global__ void Refused(int how) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const auto is = [=](Barriers other) { return how == other; };
  const bool leads = warp == 0 || lane == 0;
  if (is(kOneLane)) {
    if (leads) sync(1, 64);
    __syncthreads();
  }
  if (is(kArriveOfOneLane)) {
    if (leads) arrive(1, 96);
    __syncthreads();
  }
  if (is(kTwice)) {
    if (warp == 1) arrive(1, 96);
    if (warp == 1) arrive(1, 96);
  }
  if (is(kTwoNumbers)) sync(1 + lane % 2, 64);
  if (is(kSeventeenth)) sync(16, 64);
  if (is(kFortyEight)) sync(1, 48);
}

}  // namespace

extern "C" int hand_over(int how, int* tickets) {
  HandOver<<<1, 384>>>(how, tickets);
  cudaDeviceSynchronize();
  return cudaGetLastError();
}
extern "C" int signals(int turns, int* sums) {
  Signals<<<1, 96>>>(turns, sums);
  return cudaDeviceSynchronize();
}
extern "C" int halves(int* sums) {
  Halves<<<1, 64>>>(sums);
  return cudaDeviceSynchronize();
}
extern "C" int refused(int how) {
  Refused<<<1, 64>>>(how);
  cudaDeviceSynchronize();
  return cudaGetLastError();
}
