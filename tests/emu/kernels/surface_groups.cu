// Cooperative groups: what each thread sees of its groups, and what the groups compute.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "surface.cuh"

namespace cg = cooperative_groups;

// out[thread][16].
template <class Tile>
__device__ void look(const Tile& tile, int value, int* out) {
  out[0] = tile.size();
  out[1] = tile.thread_rank();
  out[2] = tile.meta_group_rank();
  out[3] = tile.meta_group_size();
  out[4] = cg::reduce(tile, value, cg::plus<int>());
  out[5] = cg::reduce(tile, value, cg::less<int>());
  out[6] = cg::reduce(tile, value, [](int a, int b) { return a > b ? a : b; });
  out[7] = cg::inclusive_scan(tile, value);
  out[8] = cg::exclusive_scan(tile, value);
  out[9] = tile.any(value == 3);
  out[10] = tile.all(value >= 0);
  out[11] = tile.ballot(value & 1);
  out[12] = tile.shfl(value, 0);
  out[13] = tile.shfl_down(value, 1);
  out[14] = tile.shfl_up(value, 1);
  out[15] = tile.match_any(value & 1);
  tile.sync();
}

template <unsigned Size>
__global__ void tiles_kernel(const int* in, int* out) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<Size>(block);
  const int i = block.thread_rank();
  look(tile, in[i], out + 16 * i);
}

extern "C" int tiles(const int* in, int* out, int size, int threads) {
  switch (size) {
    case 1:
      tiles_kernel<1><<<1, threads>>>(in, out);
      break;
    case 4:
      tiles_kernel<4><<<1, threads>>>(in, out);
      break;
    case 16:
      tiles_kernel<16><<<1, threads>>>(in, out);
      break;
    default:
      tiles_kernel<32><<<1, threads>>>(in, out);
  }
  return finish();
}

// The odd lanes; then a label; then a predicate.
__global__ void coalesced_kernel(const int* in, int* out, int how) {
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const int i = block.thread_rank(), value = in[i];
  if (how == 0) {
    if (value & 1) look(cg::coalesced_threads(), value, out + 16 * i);
  } else if (how == 1) {
    look(cg::labeled_partition(warp, value % 3), value, out + 16 * i);
  } else {
    look(cg::binary_partition(warp, value > 50), value, out + 16 * i);
  }
}

extern "C" int coalesced(const int* in, int* out, int how, int threads) {
  coalesced_kernel<<<1, threads>>>(in, out, how);
  return finish();
}

struct Large {
  double a;
  int b, c;
  float d;
};

// out[thread][12].
__global__ void others_kernel(int* out) {
  const auto block = cg::this_thread_block();
  const auto grid = cg::this_grid();
  const auto warp = cg::tiled_partition<32>(block);
  const auto quad = cg::tiled_partition<4>(warp);
  int* mine = out + 12 * grid.thread_rank();
  mine[0] = block.size();
  mine[1] = block.thread_rank();
  mine[2] = block.group_index().x;
  mine[3] = block.thread_index().y;
  mine[4] = static_cast<int>(grid.size());
  mine[5] = static_cast<int>(grid.block_rank());
  mine[6] = quad.meta_group_rank();
  mine[7] = quad.shfl_xor(static_cast<int>(block.thread_rank()), 3);
  const Large large = {1.5 * block.thread_rank(), 1, static_cast<int>(block.thread_rank()), 2.0f};
  const Large got = warp.shfl(large, 7);
  mine[8] = got.c + static_cast<int>(got.a * 2);
  const cg::thread_block_tile<4> erased = quad;
  mine[9] = erased.meta_group_rank() * 100 + erased.meta_group_size();
  const cg::thread_group dynamic = cg::tiled_partition(block, 8);
  dynamic.sync();
  mine[10] = static_cast<int>(dynamic.size() * 100 + dynamic.thread_rank());
  int calls = 0;
  cg::invoke_one(quad, [&] { ++calls; });
  mine[11] = cg::invoke_one_broadcast(quad, [&] { return mine[1]; }) * 10 + calls;
  cg::sync(block);
}

extern "C" int others(int* out) {
  others_kernel<<<2, dim3(16, 4)>>>(out);
  return finish();
}

// Each block adds up what the next block has written: all must have come that far.
__global__ void whole_grid_kernel(int* cells, int* out) {
  const auto grid = cg::this_grid();
  const unsigned i = grid.thread_rank(), n = grid.size();
  for (int round = 0; round < 3; ++round) {
    cells[i] = static_cast<int>(i) + round;
    grid.sync();
    out[i] += cells[(i + blockDim.x) % n];
    grid.sync();
  }
}

extern "C" int whole_grid(int* cells, int* out, int blocks, int threads) {
  void* arguments[] = {&cells, &out};
  cudaLaunchCooperativeKernel(whole_grid_kernel, dim3(blocks), dim3(threads), arguments, 0,
                              nullptr);
  return finish();
}

// n bytes through shared memory, in two stages.
__global__ void copies_kernel(const char* in, char* out, int n) {
  extern __shared__ __align__(16) char stages[];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, stages, in, n);
  cg::memcpy_async(block, stages + 1024, in + 1024, n);
  cg::wait_prior<1>(block);
  for (int i = block.thread_rank(); i < n; i += block.size()) out[i] = stages[i];
  cg::wait(block);
  for (int i = block.thread_rank(); i < n; i += block.size()) out[1024 + i] = stages[1024 + i];
}

extern "C" int copies(const char* in, char* out, int n) {
  copies_kernel<<<1, 64, 2048>>>(in, out, n);
  return finish();
}
