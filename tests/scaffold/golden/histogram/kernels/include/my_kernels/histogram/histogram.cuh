// histogram: how many elements of every row fall into each of `bins` equal bins from low to high,
// as torch.histc counts them: high belongs to the last bin; what is outside, or NaN, to none.
//
// Algorithm: a block counts in shared memory. It has up to eight copies of the bins, so that its
// warps seldom wait for one another, and a thread adds up adjacent equal ones before it counts
// them, so that a row of one value is as fast. At the end the copies are added up. A row with a
// block to itself is written at once; where the GPU has room for more blocks than there are rows,
// several share one, and add their counts to an output that was set to zero. Sums of integers do
// not depend on their order: the result is the same in every run. More than 8192 bins are counted
// in the output itself, by atomics in L2.
//
// Traffic: a row is read once, and its counts are written once. The limit is the bandwidth of the
// memory, until most elements fall into few bins: then it is the atomics of shared memory.
//
// Tiling: four vectors of 16 bytes a thread in flight, in blocks of 256 threads.
//
// Where a pointer, a pitch or the length of a row is not aligned to 16 bytes, a vector is one
// element.
#pragma once

#include <stdint.h>

#include <fictl/device/element.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/run_counter.cuh>
#include <fictl/device/vec.cuh>

namespace my_kernels::histogram {

namespace device = fictl::device;

constexpr int kHistogramThreads = 256;
constexpr int kHistogramVecs = 4;  // of a thread, in flight
constexpr int kHistogramSharedBins = 8192;
constexpr int kHistogramCopies = kHistogramThreads / device::kWarpSize;

// The arguments of a launch. The row stride (pitch) is in elements.
template <typename T>
struct HistogramArgs {
  int32_t* counts;
  const T* x;
  int64_t rows;
  int64_t cols;
  int64_t x_pitch;
  int bins;
  float low;
  float high;
  // Set by the launch: bins in a unit, blocks of a row, and copies of the bins in a block; none
  // where the output itself is counted in.
  float scale;
  unsigned parts;
  int copies;

  // The bin of a value, or -1. To count by something else, as by magnitude or by a bit field,
  // change it here, and in trace.py.
  __device__ int bin_of(T value) const {
    const float x_float = device::Element<T>::to_float(value);
    if (!(x_float >= low && x_float <= high)) return -1;
    const int bin = static_cast<int>((x_float - low) * scale);
    return bin < bins ? bin : bins - 1;
  }
};

// Counts the part of a row that this block has. Its start and length are multiples of N.
template <int N, typename T>
__device__ void HistogramCount(const HistogramArgs<T>& args, int* bins) {
  const unsigned part = blockIdx.x % args.parts;
  const T* x = args.x + static_cast<int64_t>(blockIdx.x / args.parts) * args.x_pitch;
  constexpr int64_t kStep = kHistogramThreads * N;
  device::RunCounter counter(bins);
  for (int64_t start = part * kStep * kHistogramVecs + threadIdx.x * N; start < args.cols;
       start += args.parts * kStep * kHistogramVecs) {
    device::Vec<T, N> vecs[kHistogramVecs];
#pragma unroll
    for (int i = 0; i < kHistogramVecs; ++i) {
      if (start + i * kStep < args.cols) vecs[i] = device::load_l2<N>(x + start + i * kStep);
    }
#pragma unroll
    for (int i = 0; i < kHistogramVecs; ++i) {
      if (start + i * kStep >= args.cols) continue;
#pragma unroll
      for (int j = 0; j < N; ++j) {
        const int bin = args.bin_of(vecs[i][j]);
        if (bin >= 0) counter.add(bin);
      }
    }
  }
  counter.flush();
}

template <typename T, int N>
__global__ void __launch_bounds__(kHistogramThreads) HistogramKernel(HistogramArgs<T> args) {
  extern __shared__ int shared_bins[];
  const int64_t row = blockIdx.x / args.parts;
  int32_t* counts = args.counts + row * args.bins;
  const int all = args.copies * args.bins;

  device::pdl_wait();
  device::pdl_trigger();
  if (args.copies == 0) {
    HistogramCount<N>(args, counts);
    return;
  }
  for (int i = threadIdx.x; i < all; i += blockDim.x) shared_bins[i] = 0;
  __syncthreads();
  const int own = threadIdx.x / device::kWarpSize % args.copies * args.bins;
  HistogramCount<N>(args, shared_bins + own);
  __syncthreads();
  for (int bin = threadIdx.x; bin < args.bins; bin += blockDim.x) {
    int count = 0;
    for (int i = bin; i < all; i += args.bins) count += shared_bins[i];
    if (args.parts == 1) {
      counts[bin] = count;
    } else if (count > 0) {
      atomicAdd(counts + bin, count);
    }
  }
}

// `counts` has rows of `bins`, one after the other; high is above low. `pdl`: use programmatic
// dependent launch where the GPU supports it.
template <typename T>
cudaError_t Histogram(HistogramArgs<T> args, int sm_count, cudaStream_t stream = nullptr,
                      bool pdl = false) {
  if (args.rows == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  bool aligned = args.cols % N == 0;
  aligned &= device::vec_aligned(args.x) && args.x_pitch % N == 0;
  const int64_t most_parts =
      device::ceil_div(args.cols, kHistogramThreads * kHistogramVecs * (aligned ? N : 1));
  // Why two blocks an SM: their loads cover the latency, and more would write more counts.
  const int64_t wanted_parts = device::ceil_div(2 * sm_count, args.rows);
  const int64_t parts = wanted_parts < most_parts ? wanted_parts : most_parts;
  const int copies = kHistogramSharedBins / args.bins;
  args.scale = static_cast<float>(args.bins) / (args.high - args.low);
  args.parts = static_cast<unsigned>(parts > 1 ? parts : 1);
  args.copies = copies < kHistogramCopies ? copies : kHistogramCopies;
  if (args.parts > 1 || args.copies == 0) {
    const size_t bytes = sizeof(int32_t) * args.rows * args.bins;
    const cudaError_t status = cudaMemsetAsync(args.counts, 0, bytes, stream);
    if (status != cudaSuccess) return status;
  }

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  config.block = dim3(kHistogramThreads);
  config.grid = dim3(args.rows * args.parts);
  config.shared_bytes = sizeof(int) * args.copies * args.bins;
  return aligned ? device::launch<HistogramKernel<T, N>>(config, args)
                 : device::launch<HistogramKernel<T, 1>>(config, args);
}

}  // namespace my_kernels::histogram
