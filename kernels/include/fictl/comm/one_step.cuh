// OneStepKernel: the one-shot sum of rows that all fit on the GPU at once, by Lamport's protocol:
// what the all-reduces of decoding are.
//
// Algorithm: that of OneShotKernel (row_exchange.cuh) with a single step. Such a call is a chain of
// latencies, and instructions between them count: there is no loop over steps here, and the
// compiler knows the number of ranks, as engines have 2, 4 and 8. So registers are fewer, too, and
// an SM has room for two blocks of a norm.
#pragma once

#include <fictl/comm/rows.cuh>

#include <type_traits>

namespace fictl::comm {

template <typename Job, int kRanks>
__global__ void __launch_bounds__(Job::kThreads, Job::kBlocksOfOneStep)
    OneStepKernel(const __grid_constant__ typename Job::Arguments arguments,
                  const __grid_constant__ Peers peers, ChannelSizes sizes, RowsShape shape,
                  bool triggers_early) {
  using T = typename Job::Element;
  __builtin_assume(peers.size == kRanks);
  const RowPlace<Job::kVecs, Job::kClusters> place(shape);
  Job job(arguments, shape);
  Channel channel(peers, sizes, Inbox{shape.vecs, 1}, Protocol::kLamport);
  const int row = place.of_step(0);

  device::pdl_wait();
  if (triggers_early) device::pdl_trigger();
  uint4 own[Job::kVecs];
  clear_row(own);
  place.each(row, [&](int i, int at) { own[i] = job.load(row, at); });
  channel.open();
  place.each(row, [&](int i, int at) {
    own[i] = without_negative_zeros<T>(own[i]);
    channel.push_to_all(0, at, own[i]);
  });
  job.expect(place, row);
  channel.clear();
  channel.count_call(1);
  sum_ranks<T, kRanks>(channel, peers, place, row, [](int at) { return at; }, own);
  // Why behind the sums: see OneShotKernel.
  if (!triggers_early) device::pdl_trigger();
  job.finish(place, row, own);
  job.finish_call();
}

// Calls `body` with the number of ranks as a constant, if there is a kernel for a job of so many;
// tells if there is. Why not for all: of more than two, inputs of which a thread has several
// vectors take two hops.
template <typename Job, typename Body>
bool with_ranks(int ranks, Body body) {
  if (ranks == 2) {
    body(std::integral_constant<int, 2>());
    return true;
  }
  if constexpr (Job::kVecs == 1) {
    if (ranks == 4) {
      body(std::integral_constant<int, 4>());
      return true;
    }
    if constexpr (Job::kMostRanksOfOneStep >= 8) {
      if (ranks == 8) {
        body(std::integral_constant<int, 8>());
        return true;
      }
    }
  }
  return false;
}

template <typename Job>
bool has_one_step(int ranks) {
  return with_ranks<Job>(ranks, [](auto) {});
}

// Loads the kernel for a job that is called by turns with others.
template <typename Job>
cudaError_t load_one_step(int ranks) {
  cudaError_t status = cudaSuccess;
  with_ranks<Job>(
      ranks, [&](auto known) { status = device::load_kernels<OneStepKernel<Job, known.value>>(); });
  return status;
}

// Launches the kernel of a job that has_one_step().
template <typename Job>
cudaError_t launch_one_step(const device::LaunchConfig& config,
                            const typename Job::Arguments& arguments, const Peers& peers,
                            const ChannelSizes& sizes, const RowsShape& shape,
                            bool triggers_early) {
  cudaError_t status = cudaErrorInvalidValue;
  with_ranks<Job>(peers.size, [&](auto known) {
    status = device::launch<OneStepKernel<Job, known.value>>(config, arguments, peers, sizes, shape,
                                                             triggers_early);
  });
  return status;
}

}  // namespace fictl::comm
