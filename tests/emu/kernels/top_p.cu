// Top-p sampling over reductions and scans by warp shuffles.
#include "top_p.cuh"

namespace {

class ShuffleBlock {
  static constexpr int kWarps = kTopPThreads / 32;
  static constexpr unsigned kAll = 0xffffffff;

 public:
  struct Storage {
    float warps[kWarps];
  };

  __device__ explicit ShuffleBlock(Storage& storage) : warps_(storage.warps) {}

  __device__ float max(float x) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) x = fmaxf(x, __shfl_xor_sync(kAll, x, lane));
    share(x, 0);
    float largest = warps_[0];
#pragma unroll
    for (int i = 1; i < kWarps; ++i) largest = fmaxf(largest, warps_[i]);
    __syncthreads();
    return largest;
  }

  __device__ float sum(float x) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) x += __shfl_xor_sync(kAll, x, lane);
    share(x, 0);
    float total = 0.f;
#pragma unroll
    for (int i = 0; i < kWarps; ++i) total += warps_[i];
    __syncthreads();
    return total;
  }

  // The sum of this thread's value and all before it; `total` is that of the last thread.
  __device__ float scan(float x, float& total) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const float before = __shfl_up_sync(kAll, x, distance);
      if (lane >= distance) x += before;
    }
    share(x, 31);
    float before = 0.f;
    total = 0.f;
#pragma unroll
    for (int i = 0; i < kWarps; ++i) {
      if (i == threadIdx.x / 32) before = total;
      total += warps_[i];
    }
    __syncthreads();
    return before + x;
  }

 private:
  // Every warp's value from that lane, to all threads.
  __device__ void share(float x, int lane) {
    if (threadIdx.x % 32 == lane) warps_[threadIdx.x / 32] = x;
    __syncthreads();
  }

  float (&warps_)[kWarps];
};

}  // namespace

extern "C" cudaError_t top_p(const float* logits, const float* uniform, float top_p, int rows,
                             int vocab, int* token, int* kept) {
  return TopP<ShuffleBlock>(logits, uniform, top_p, rows, vocab, token, kept);
}
