// Sums of rows over the ranks, on every rank with the same bits: the kernels of the all-reduces.
//
// Algorithm: what a rank adds is a matrix of rows, each of vectors of 16 bytes. All writing over
// the link is pushed, so that no rank waits for a request to go there and the answer to come back.
//   one-shot  Every rank pushes all rows to all others, and sums what has come: one hop.
//   two-shot  Row i is the affair of rank i % ranks. The others push it there, that rank sums and
//             pushes it to all: two hops, and 2 / ranks of the bytes.
// Few rows take the one-shot way by a kernel without a loop over steps (one_step.cuh).
// Values are added in fp32 from rank 0 on, and rounded once: the sums have the same bits on every
// rank, in both ways and by both protocols (channel.cuh). A -0.0 counts as +0.0.
//
// What a rank adds, and what becomes of a sum, is a Job: plain memory (all_reduce.cuh), or
// experts' results and a norm with quantization (all_reduce_norm.cuh).
//
// Traffic: over the link a rank sends (ranks - 1) * bytes one-shot, 2 * (ranks - 1) / ranks * bytes
// two-shot; in its own memory it reads what it adds and what has come, and writes the result. Own
// data are never pushed to itself: they wait in registers.
//
// Tiling: a row has a cluster of blocks, of whose threads each has kVecs vectors. A cluster walks
// over rows, and pushes a row (two-shot: two) before it waits for an earlier one: the link carries
// the next data while these are summed. Where registers admit, the row behind that is loaded, too.
// The same block of every rank has the same rows, so blocks wait for their like alone, and no
// barrier is for all.
#pragma once

#include <fictl/comm/one_step.cuh>

namespace fictl::comm {

template <typename Job>
__global__ void __launch_bounds__(Job::kThreads, Job::kBlocksOfSm)
    OneShotKernel(const __grid_constant__ typename Job::Arguments arguments,
                  const __grid_constant__ Peers peers, ChannelSizes sizes, RowsShape shape,
                  Protocol protocol, bool triggers_early) {
  using T = typename Job::Element;
  constexpr int kVecs = Job::kVecs;
  using Row = uint4[kVecs];
  constexpr int kAhead = Job::kLoadsAhead ? 2 : 1;
  const RowPlace<kVecs, Job::kClusters> place(shape);
  Job job(arguments, shape);
  Channel channel(peers, sizes, Inbox{shape.vecs, 1}, protocol);
  const auto row_of = [&](int step) { return place.of_step(step); };
  const auto has = [&](int step) { return step >= 0 && row_of(step) < shape.rows; };
  // Why apart from the pushes: all loads of a row are in flight before the first is waited for.
  const auto load = [&](int step, Row& row) {
    clear_row(row);
    place.each(row_of(step), [&](int i, int at) { row[i] = job.load(row_of(step), at); });
  };
  const auto push_row = [&](int step, Row& row) {
    place.each(row_of(step), [&](int i, int at) {
      row[i] = without_negative_zeros<T>(row[i]);
      channel.push_to_all(0, at, row[i]);
    });
  };

  device::pdl_wait();
  if (triggers_early) device::pdl_trigger();
  // The rows of a step, of the next one, and, where rows are loaded ahead, of that behind it.
  Row own, next, after;
  // Why one loop: what a rank adds may be much code.
#pragma unroll 1
  for (int step = -kAhead; step < shape.steps; ++step) {
    const bool pushes = has(step + 1);
    if (kAhead == 1 && pushes) load(step + 1, next);
    if (kAhead == 1 && step == -kAhead) channel.open();
    if (pushes) push_row(step + 1, next);
    if (kAhead == 2 && has(step + 2)) load(step + 2, after);
    if (kAhead == 2 && step == -kAhead) channel.open();
    if (step == -1) {
      if (pushes) channel.announce(0, 0);
      channel.clear();
      channel.count_call(shape.steps);
    } else if (has(step)) {
      job.expect(place, row_of(step));
      channel.await(0, step);
      sum_ranks<T>(channel, peers, place, row_of(step), [](int at) { return at; }, own);
      // Why now: the announcement waits for the next row to arrive, which the link carries while
      // this one is summed.
      if (pushes) channel.announce(0, step + 1);
      // Why not before, and not by threads that have received nothing: the same block of each peer
      // runs now, and has no more to wait for than blocks that run. So the next kernel, which may
      // start when all blocks have come here, takes no room that a block needs to begin, where
      // ranks share a GPU.
      if (!pushes && !triggers_early && place.has(row_of(step), 0)) device::pdl_trigger();
      job.finish(place, row_of(step), own);
    }
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      own[i] = next[i];
      if (kAhead == 2) next[i] = after[i];
    }
  }
  job.finish_call();
}

// Groups of as many rows as there are ranks, one row the affair of each.
template <typename Job>
__global__ void __launch_bounds__(Job::kThreads, Job::kBlocksOfSm)
    TwoShotKernel(const __grid_constant__ typename Job::Arguments arguments,
                  const __grid_constant__ Peers peers, ChannelSizes sizes, RowsShape shape,
                  int groups, Protocol protocol, bool triggers_early) {
  using T = typename Job::Element;
  constexpr int kVecs = Job::kVecs;
  using Row = uint4[kVecs];
  constexpr int kScatter = 0, kGather = 1;
  const RowPlace<kVecs, Job::kClusters> place(shape);
  Job job(arguments, shape);
  Channel channel(peers, sizes, Inbox{groups * shape.row_vecs, kStages}, protocol);
  const auto group_of = [&](int step) { return place.of_step(step); };
  const auto has = [&](int step) { return step >= 0 && group_of(step) < groups; };
  const auto row_of = [&](int step, int owner) { return group_of(step) * peers.size + owner; };
  // A vector's place among the rows of one owner.
  const auto in_slot = [&](int step, int owner, int at) {
    return at + (group_of(step) - row_of(step, owner)) * shape.row_vecs;
  };
  const auto scatter = [&](int step, Row& own) {
    for (int next = 0; next < peers.size; ++next) {
      const int owner = peers.rank + next - (peers.rank + next < peers.size ? 0 : peers.size);
      const int row = row_of(step, owner);
      Row loaded;
      clear_row(loaded);
      place.each(row, [&](int i, int at) { loaded[i] = job.load(row, at); });
      place.each(row, [&](int i, int at) {
        loaded[i] = without_negative_zeros<T>(loaded[i]);
        if (next == 0) {
          own[i] = loaded[i];
        } else {
          push(channel.there(owner, kScatter, in_slot(step, owner, at)), loaded[i]);
        }
      });
    }
  };
  const auto reduce = [&](int step, Row& own) {
    channel.await(kScatter, step);
    const int row = row_of(step, peers.rank);
    const auto slot_of = [&](int at) { return in_slot(step, peers.rank, at); };
    sum_ranks<T>(channel, peers, place, row, slot_of, own);
    place.each(row, [&](int i, int at) { channel.push_to_all(kGather, slot_of(at), own[i]); });
  };
  const auto gather = [&](int step, const Row& own) {
    channel.await(kGather, step);
    for (int owner = 0; owner < peers.size && row_of(step, owner) < shape.rows; ++owner) {
      const int row = row_of(step, owner);
      Row sums;
      job.expect(place, row);
      uint4 pieces[1][kVecs];
      const auto slot_of = [&](int at) { return in_slot(step, owner, at); };
      receive(channel, peers, place, row, owner, 0, kGather, slot_of, pieces);
#pragma unroll
      for (int i = 0; i < kVecs; ++i) {
        sums[i] = owner == peers.rank ? own[i] : pieces[0][i];
      }
      job.finish(place, row, sums);
    }
  };

  device::pdl_wait();
  if (triggers_early) device::pdl_trigger();
  channel.open();
  // Rows of two steps are under way beside the one whose sums are used.
  Row summed, own, next;
#pragma unroll 1
  for (int step = -2; step < shape.steps; ++step) {
    const bool scatters = has(step + 2);
    const bool reduces = has(step + 1);
    if (scatters) scatter(step + 2, next);
    if (reduces) reduce(step + 1, own);
    if (scatters) channel.announce(kScatter, step + 2);
    if (reduces) channel.announce(kGather, step + 1);
    if (step == -2) {
      channel.clear();
      channel.count_call(shape.steps);
    }
    if (has(step)) gather(step, summed);
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      summed[i] = own[i];
      own[i] = next[i];
    }
  }
  job.finish_call();
  if (!triggers_early) device::pdl_trigger();
}

// How ranks exchange: equal on all of them, as the grid and the slots follow from it.
struct Exchange {
  Protocol protocol;
  bool two_shot;
};

// The pieces that one rank receives, which its buffers have to hold.
inline int64_t received_pieces(const Exchange& exchange, const RowsShape& shape, int ranks) {
  if (!exchange.two_shot) return Inbox{shape.vecs, 1}.pieces(ranks);
  const int groups = device::ceil_div(shape.rows, ranks);
  return Inbox{groups * shape.row_vecs, kStages}.pieces(ranks);
}

// Tells if a job of so many blocks is done by OneStepKernel.
template <typename Job>
bool takes_one_step(const Peers& peers, const Exchange& exchange, int blocks) {
  return exchange.protocol == Protocol::kLamport && !exchange.two_shot &&
         has_one_step<Job>(peers.size) && blocks <= resident_blocks(peers, Job::kBlocksOfOneStep);
}

// `config` has the block and the cluster. The two jobs differ in the vectors that a thread has.
// cudaErrorInvalidValue: the buffers are too small.
template <typename OneShotJob, typename TwoShotJob>
cudaError_t LaunchAllReduce(device::LaunchConfig config,
                            const typename OneShotJob::Arguments& arguments, const Peers& peers,
                            const ChannelSizes& sizes, RowsShape shape, const Exchange& exchange,
                            bool triggers_early) {
  if (received_pieces(exchange, shape, peers.size) * kPieceBytes > sizes.of(exchange.protocol)) {
    return cudaErrorInvalidValue;
  }
  triggers_early = triggers_early && peers.have_gpus;
  if (takes_one_step<OneShotJob>(peers, exchange,
                                 shape.rows * static_cast<int>(config.cluster.x))) {
    config.grid = dim3(shape.rows * config.cluster.x);
    shape.steps = 1;
    return launch_one_step<OneShotJob>(config, arguments, peers, sizes, shape, triggers_early);
  }
  const int wanted = exchange.two_shot ? device::ceil_div(shape.rows, peers.size) : shape.rows;
  const int most =
      resident_blocks(peers, OneShotJob::kBlocksOfSm) / static_cast<int>(config.cluster.x);
  const int clusters = wanted < most ? wanted : (most > 0 ? most : 1);
  config.grid = dim3(clusters * config.cluster.x);
  shape.steps = device::ceil_div(wanted, clusters);
  if (exchange.two_shot) {
    return device::launch<TwoShotKernel<TwoShotJob>>(config, arguments, peers, sizes, shape, wanted,
                                                     exchange.protocol, triggers_early);
  }
  return device::launch<OneShotKernel<OneShotJob>>(config, arguments, peers, sizes, shape,
                                                   exchange.protocol, triggers_early);
}

}  // namespace fictl::comm
