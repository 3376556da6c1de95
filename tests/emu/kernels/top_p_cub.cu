// Top-p sampling over CUB's reductions and scans.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "top_p.cuh"

namespace {

struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

class CubBlock {
  using Reduce = cub::BlockReduce<float, kTopPThreads>;
  using Scan = cub::BlockScan<float, kTopPThreads>;

 public:
  struct Storage {
    union {
      typename Reduce::TempStorage reduce;
      typename Scan::TempStorage scan;
    };
    float result;
  };

  __device__ explicit CubBlock(Storage& storage) : storage_(storage) {}

  __device__ float max(float x) { return to_all(Reduce(storage_.reduce).Reduce(x, Larger())); }

  __device__ float sum(float x) { return to_all(Reduce(storage_.reduce).Sum(x)); }

  __device__ float scan(float x, float& total) {
    Scan(storage_.scan).InclusiveSum(x, x, total);
    __syncthreads();
    return x;
  }

 private:
  // CUB gives the result to the first thread.
  __device__ float to_all(float x) {
    if (threadIdx.x == 0) storage_.result = x;
    __syncthreads();
    const float result = storage_.result;
    __syncthreads();
    return result;
  }

  Storage& storage_;
};

}  // namespace

extern "C" cudaError_t top_p_cub(const float* logits, const float* uniform, float top_p, int rows,
                                 int vocab, int* token, int* kept) {
  return TopP<CubBlock>(logits, uniform, top_p, rows, vocab, token, kept);
}
