// Calls that no GPU defines, or that the emulated device does not have.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline_primitives.h>

#include "surface.cuh"

namespace cg = cooperative_groups;

__global__ void odd_width(float* out, int width) {
  out[threadIdx.x] = __shfl_sync(0xffffffffu, out[threadIdx.x], 0, width);
}

__global__ void lanes_that_left(int* out) {
  if (threadIdx.x >= 16) return;
  out[threadIdx.x] = __shfl_sync(0xffffffffu, threadIdx.x, threadIdx.x + 16);
}

__global__ void not_in_the_mask(int* out) { out[threadIdx.x] = __ballot_sync(0x0000ffffu, 1); }

__global__ void odd_tile(int* out, unsigned size) {
  const auto tile = cg::tiled_partition(cg::this_thread_block(), size);
  out[threadIdx.x] = static_cast<int>(tile.size());
}

__global__ void large_tile(int* out) {
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  out[threadIdx.x] = cg::reduce(tile, out[threadIdx.x], cg::plus<int>());
}

__global__ void cluster() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  cg::this_cluster().barrier_wait();
#endif
}

__global__ void not_shared(int* out) { out[0] = static_cast<int>(__cvta_generic_to_shared(out)); }

__global__ void odd_copy(int* out, unsigned bytes) {
  __shared__ int words[4];
  __pipeline_memcpy_async(words, out, bytes);
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

__global__ void trap() {
  if (threadIdx.x == 5) __trap();
}

extern "C" int run(int which, int* out, int number) {
  switch (which) {
    case 0:
      odd_width<<<1, 32>>>(reinterpret_cast<float*>(out), number);
      break;
    case 1:
      lanes_that_left<<<1, 32>>>(out);
      break;
    case 2:
      not_in_the_mask<<<1, 32>>>(out);
      break;
    case 3:
      odd_tile<<<1, 32>>>(out, number);
      break;
    case 4:
      large_tile<<<1, 64>>>(out);
      break;
    case 5:
      cluster<<<1, 32>>>();
      break;
    case 6:
      not_shared<<<1, 1>>>(out);
      break;
    case 7:
      odd_copy<<<1, 1>>>(out, number);
      break;
    default:
      trap<<<1, 32>>>();
  }
  return finish();
}
