// The number of blocks and threads of a row, and the size of the sample for its bound.
#pragma once

#include <fictl/device/cluster.cuh>
#include <fictl/device/math.cuh>
#include <fictl/topk/key.cuh>

namespace fictl::topk {

constexpr int kTopKThreads = 1024;  // of a block, at most; always, of one that shares a row
constexpr int kTopKLeastThreads = 128;
constexpr int kTopKElementsAThread = 16;  // at least, of a row
constexpr int kTopKBlockElements = 8192;  // at least, of a block that shares a row
constexpr int kTopKCapacity = 8192;       // entries that a block has room for, at most
constexpr int kTopKLeastCapacity = 2048;  // where a row is no shorter
constexpr int kTopKSortable = 4096;       // the largest k that there is room for on any GPU
constexpr int kTopKBatchVecs = 4;         // vectors of a thread at a time

// As many entries instead of k cost less than a narrower bound.
__host__ __device__ inline int64_t top_k_enough(int k) { return int64_t{k} + k / 4 + 64; }

// The algorithm for a row. All of them choose the same elements.
enum class TopKAlgorithm {
  kAuto,      // by the number of rows, their length, and k
  kFiltered,  // a block a row, which collects what reaches a bound
  kCounted,   // all elements are counted, in passes over the row: a radix select of its own
  kClusters,  // as many blocks as a long row has work for share it, however many rows there are
};

// The plan of a row.
struct TopKPlan {
  int blocks;
  int threads;
  int capacity;  // of the list of a block
  bool alone;    // each block finds a bound of its own
  int sample;    // batches of each block that it is found in
  bool counted;  // no bound, no list
};

// The bytes of shared memory that a block may have on this GPU.
inline cudaError_t top_k_shared_bytes(int& bytes) {
  int device;
  const cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  return cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
}

// The smallest sample whose bound leaves what is expected in three quarters of the list: first one
// of each block's own, which spares the blocks a meeting.
// Why twice k: among so many maxima the k-th is hardly less than the k-th of all elements.
inline void choose_sample(TopKPlan& plan, int64_t vecs, int k) {
  const int64_t batch = int64_t{kTopKBatchVecs} * plan.threads;
  const int64_t share = device::ceil_div(vecs, plan.blocks);
  const int batches = static_cast<int>(device::ceil_div(share, batch));
  for (const bool alone : {true, false}) {
    for (int sample = 1; sample <= batches; ++sample) {
      const int64_t seen = sample * batch < share ? sample * batch : share;
      const int64_t maxima = seen < batch ? seen : batch;
      const int64_t entries = top_k_enough(k) * (alone ? plan.blocks : 1) * share / seen;
      plan.alone = alone;
      plan.sample = sample;
      if ((alone ? 1 : plan.blocks) * maxima >= 2 * int64_t{k} &&
          entries <= plan.capacity / 4 * 3) {
        return;
      }
    }
  }
}

// For rows of so many elements, which are read in vectors of some, by so many blocks each. Blocks
// that have an SM to themselves have more threads.
inline TopKPlan top_k_plan(int64_t rows, int blocks, int cols, int vec_elements, int k,
                           int sm_count, int shared_bytes) {
  constexpr int kStatic = 28 * 1024;  // of the kernel, rounded up
  TopKPlan plan{};
  plan.blocks = blocks;
  const int elements = kTopKElementsAThread / (rows * blocks <= sm_count ? 2 : 1);
  plan.threads =
      device::power_of_two(device::ceil_div(cols, elements), kTopKLeastThreads, kTopKThreads);
  // Why not always all: of blocks with a shorter list more fit on an SM.
  const int64_t wanted = blocks > 1 ? kTopKCapacity : int64_t{4} * k;
  const int most = device::power_of_two(cols, 1, kTopKCapacity);
  plan.capacity =
      device::power_of_two(wanted, most < kTopKLeastCapacity ? most : kTopKLeastCapacity, most);
  while (plan.capacity * int{sizeof(Entry)} + kStatic > shared_bytes) plan.capacity /= 2;
  choose_sample(plan, cols / vec_elements, k);
  return plan;
}

}  // namespace fictl::topk
