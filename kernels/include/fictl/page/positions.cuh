// The request and the position of each entry of a ragged batch, and the length of each request of a
// paged cache.
//
// Both read and write some kilobytes, so that what counts is latency: each is one launch.
//
// batch_indices_positions: a thread finds the request of its entry by bisection among the starts of
// all, so that many short requests and few long ones take the same time. As bisection is a chain of
// reads, a block copies the starts to shared memory first, and the lengths with them, all at once.
// Where there are too many for that, it searches in L2.
#pragma once

#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>

namespace fictl::page {

constexpr int kPositionsThreads = 256;
constexpr int kPositionsLoads = 9;  // a thread, of starts and of lengths: above 2048 requests
constexpr int kPositionsStaged = kPositionsLoads * kPositionsThreads;

// The number of `count` non-decreasing numbers that are at most `value`.
template <typename Index>
__device__ int count_up_to(const Index* numbers, int count, int64_t value) {
  int at_least = 0;
  int at_most = count;
  while (at_least < at_most) {
    const int middle = (at_least + at_most) / 2;
    if (numbers[middle] <= value) {
      at_least = middle + 1;
    } else {
      at_most = middle;
    }
  }
  return at_least;
}

// A thread an entry. indptr: [requests + 1]; seq_lens: [requests].
template <typename Index, typename Length>
__global__ void __launch_bounds__(kPositionsThreads)
    BatchIndicesPositionsKernel(const Index* indptr, const Length* seq_lens, int requests,
                                int* batch_indices, int* positions, int64_t entries) {
  __shared__ Index staged_indptr[kPositionsStaged];
  __shared__ Length staged_lens[kPositionsStaged];
  device::pdl_wait();
  device::pdl_trigger();
  if (requests < kPositionsStaged) {
#pragma unroll
    for (int i = 0; i < kPositionsLoads; ++i) {
      const int at = i * kPositionsThreads + threadIdx.x;
      if (at <= requests) staged_indptr[at] = indptr[at];
      if (at < requests) staged_lens[at] = seq_lens[at];
    }
    __syncthreads();
    indptr = staged_indptr;
    seq_lens = staged_lens;
  }
  const int64_t entry = static_cast<int64_t>(blockIdx.x) * kPositionsThreads + threadIdx.x;
  if (entry >= entries) return;
  const int request = count_up_to(indptr, requests + 1, entry) - 1;
  const bool is_of_one = request >= 0 && request < requests;
  batch_indices[entry] = is_of_one ? request : -1;
  // The last entry of a request is the last of its sequence.
  positions[entry] = is_of_one ? entry - indptr[request + 1] + seq_lens[request] : 0;
}

template <typename Index, typename Length>
cudaError_t BatchIndicesPositions(const Index* indptr, const Length* seq_lens, int requests,
                                  int* batch_indices, int* positions, int64_t entries,
                                  cudaStream_t stream = nullptr, bool pdl = false) {
  if (entries == 0) return cudaSuccess;
  device::LaunchConfig config;
  config.grid = dim3(device::ceil_div(entries, kPositionsThreads));
  config.block = dim3(kPositionsThreads);
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<BatchIndicesPositionsKernel<Index, Length>>(
      config, indptr, seq_lens, requests, batch_indices, positions, entries);
}

// A thread a request, all of whose pages but the last are full. indptr: [requests + 1].
template <typename Index, typename Length, typename Out>
__global__ void __launch_bounds__(kPositionsThreads)
    SeqLensKernel(const Index* indptr, const Length* last_page_len, int64_t page_size,
                  Out* seq_lens, int64_t requests) {
  const int64_t request = static_cast<int64_t>(blockIdx.x) * kPositionsThreads + threadIdx.x;
  device::pdl_wait();
  device::pdl_trigger();
  if (request >= requests) return;
  const int64_t full_pages = static_cast<int64_t>(indptr[request + 1]) - indptr[request] - 1;
  seq_lens[request] = (full_pages > 0 ? full_pages * page_size : 0) + last_page_len[request];
}

template <typename Index, typename Length, typename Out>
cudaError_t SeqLens(const Index* indptr, const Length* last_page_len, int64_t page_size,
                    Out* seq_lens, int64_t requests, cudaStream_t stream = nullptr,
                    bool pdl = false) {
  if (requests == 0) return cudaSuccess;
  device::LaunchConfig config;
  config.grid = dim3(device::ceil_div(requests, kPositionsThreads));
  config.block = dim3(kPositionsThreads);
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<SeqLensKernel<Index, Length, Out>>(config, indptr, last_page_len, page_size,
                                                           seq_lens, requests);
}

}  // namespace fictl::page
