// CUB's block and warp primitives, as the toolkit has them.
#include <cub/cub.cuh>

#include "surface.cuh"

constexpr int kThreads = 96, kItems = 4;

struct Larger {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};
struct Different {
  __device__ bool operator()(int a, int b) const { return a != b; }
};

template <cub::BlockReduceAlgorithm Algorithm>
__global__ void reduce_kernel(const float* x, float* sum) {
  using Reduce = cub::BlockReduce<float, kThreads, Algorithm>;
  __shared__ typename Reduce::TempStorage storage;
  const float total = Reduce(storage).Sum(x[threadIdx.x]);
  if (threadIdx.x == 0) *sum = total;
}

template <cub::BlockScanAlgorithm Algorithm>
__global__ void scan_kernel(const int* x, int* inclusive, int* exclusive, int* total) {
  using Scan = cub::BlockScan<int, kThreads, Algorithm>;
  __shared__ typename Scan::TempStorage storage;
  int aggregate;
  Scan(storage).InclusiveSum(x[threadIdx.x], inclusive[threadIdx.x]);
  __syncthreads();
  Scan(storage).ExclusiveSum(x[threadIdx.x], exclusive[threadIdx.x], aggregate);
  if (threadIdx.x == 0) *total = aggregate;
}

__global__ void sort_kernel(const unsigned* keys, const int* values, unsigned* sorted, int* order) {
  using Load = cub::BlockLoad<unsigned, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using LoadValues = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_VECTORIZE>;
  using Sort = cub::BlockRadixSort<unsigned, kThreads, kItems, int>;
  using Store = cub::BlockStore<unsigned, kThreads, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using StoreValues = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_DIRECT>;
  __shared__ union {
    typename Load::TempStorage load;
    typename LoadValues::TempStorage load_values;
    typename Sort::TempStorage sort;
    typename Store::TempStorage store;
    typename StoreValues::TempStorage store_values;
  } storage;
  unsigned key[kItems];
  int value[kItems];
  Load(storage.load).Load(keys, key);
  __syncthreads();
  LoadValues(storage.load_values).Load(values, value);
  __syncthreads();
  Sort(storage.sort).SortDescending(key, value);
  __syncthreads();
  Store(storage.store).Store(sorted, key);
  __syncthreads();
  StoreValues(storage.store_values).Store(order, value);
}

__global__ void warp_kernel(const float* x, float* sums, float* scans) {
  using Reduce = cub::WarpReduce<float>;
  using Scan = cub::WarpScan<float>;
  __shared__ typename Reduce::TempStorage reduce[kThreads / 32];
  __shared__ typename Scan::TempStorage scan[kThreads / 32];
  const int warp = threadIdx.x / 32;
  const float sum = Reduce(reduce[warp]).Reduce(x[threadIdx.x], Larger());
  if (threadIdx.x % 32 == 0) sums[warp] = sum;
  Scan(scan[warp]).InclusiveSum(x[threadIdx.x], scans[threadIdx.x]);
}

__global__ void neighbours_kernel(const int* x, int* heads, int* exchanged) {
  using Discontinuity = cub::BlockDiscontinuity<int, kThreads>;
  using Exchange = cub::BlockExchange<int, kThreads, kItems>;
  __shared__ typename Discontinuity::TempStorage flags;
  __shared__ typename Exchange::TempStorage storage;
  int item[1] = {x[threadIdx.x]}, head[1];
  Discontinuity(flags).FlagHeads(head, item, Different());
  heads[threadIdx.x] = head[0];
  int items[kItems];
  for (int i = 0; i < kItems; ++i) items[i] = x[threadIdx.x * kItems + i];
  Exchange(storage).BlockedToStriped(items, items);
  for (int i = 0; i < kItems; ++i) exchanged[i * kThreads + threadIdx.x] = items[i];
}

extern "C" int reduce(const float* x, float* sum, int how) {
  if (how == 0) reduce_kernel<cub::BLOCK_REDUCE_WARP_REDUCTIONS><<<1, kThreads>>>(x, sum);
  if (how == 1) reduce_kernel<cub::BLOCK_REDUCE_RAKING><<<1, kThreads>>>(x, sum);
  if (how == 2) {
    reduce_kernel<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY><<<1, kThreads>>>(x, sum);
  }
  return finish();
}

extern "C" int scan(const int* x, int* inclusive, int* exclusive, int* total, int how) {
  if (how == 0) {
    scan_kernel<cub::BLOCK_SCAN_WARP_SCANS><<<1, kThreads>>>(x, inclusive, exclusive, total);
  } else {
    scan_kernel<cub::BLOCK_SCAN_RAKING><<<1, kThreads>>>(x, inclusive, exclusive, total);
  }
  return finish();
}

extern "C" int sort(const unsigned* keys, const int* values, unsigned* sorted, int* order) {
  sort_kernel<<<1, kThreads>>>(keys, values, sorted, order);
  return finish();
}

extern "C" int warps(const float* x, float* sums, float* scans) {
  warp_kernel<<<1, kThreads>>>(x, sums, scans);
  return finish();
}

extern "C" int neighbours(const int* x, int* heads, int* exchanged) {
  neighbours_kernel<<<1, kThreads>>>(x, heads, exchanged);
  return finish();
}
