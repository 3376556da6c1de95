// Sums of rows over the ranks, on every rank with the same bits: the kernels of the all-reduces.
//
// Algorithm: what a rank adds is a matrix of rows, each of vectors of 16 bytes. All writing over
// the link is pushed, so that no rank waits for a request to go there and the answer to come back.
//   one-shot  Every rank pushes all rows to all others, and sums what has come: one hop.
//   two-shot  Row i is the affair of rank i % ranks. The others push it there, that rank sums and
//             pushes it to all: two hops, and 2 / ranks of the bytes.
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
// the next data while these are summed. The same block of every rank has the same rows, so blocks
// wait for their like alone, and no barrier is for all.
#pragma once

#include <fictl/comm/channel.cuh>
#include <fictl/device/cluster.cuh>
#include <fictl/device/convert.cuh>

namespace fictl::comm {

template <typename T>
using Piece = device::Vec<T, kPieceBytes / sizeof(T)>;

// Rows of vectors; the last ones may be absent.
struct RowsShape {
  int64_t rows;
  int row_vecs;
  int64_t vecs;
  int steps = 0;  // of the cluster that has most; set at the launch
};

// The vectors of a row that this thread has, and the rows of its cluster.
template <int kVecs>
class RowPlace {
 public:
  __device__ explicit RowPlace(const RowsShape& shape)
      : shape_(shape),
        first_(device::Cluster::rank() * blockDim.x + threadIdx.x),
        step_(device::Cluster::size() * blockDim.x) {}

  // The row, or the group of rows, of a step of this cluster.
  __device__ int64_t of_step(int step) const {
    return device::Cluster::index() + int64_t{step} * device::Cluster::count();
  }

  // The place in its row of this thread's vector i.
  __device__ int in_row(int i) const { return first_ + i * step_; }

  // Tells if this thread has a vector of the row: if any, then its first.
  __device__ bool has_any(int64_t row) const {
    return first_ < shape_.row_vecs && row * shape_.row_vecs + first_ < shape_.vecs;
  }

  // Calls body(i, vector) for those of a row, vectors counted over all rows.
  template <typename Body>
  __device__ void each(int64_t row, Body body) const {
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int64_t at = row * shape_.row_vecs + in_row(i);
      if (in_row(i) < shape_.row_vecs && at < shape_.vecs) body(i, at);
    }
  }

 private:
  const RowsShape& shape_;
  int first_;
  int step_;
};

template <typename T>
__device__ Piece<T> own_piece(Piece<T> piece) {
  piece.bits() = without_negative_zeros<T>(piece.bits());
  return piece;
}

// Adds what came of a row's vectors from all ranks to this rank's own, in their order. `at(i, v)`
// is the place of vector v in a slot.
template <typename T, int kVecs, typename At>
__device__ void sum_ranks(const Channel& channel, const Peers& peers, const RowPlace<kVecs>& place,
                          int64_t row, At at, Piece<T> (&own)[kVecs]) {
  constexpr int N = kPieceBytes / sizeof(T);
  // Why batches: as many loads as registers hold are in flight before the first is looked at. Of
  // one vector these are the ranks', of several the vectors of a rank.
  constexpr int kBatch = kVecs == 1 ? 4 : 1;
  float sums[kVecs][N] = {};
#pragma unroll 1
  for (int first = 0; first < peers.size; first += kBatch) {
    Piece<T> pieces[kBatch][kVecs];
    // Calls body(rank, piece, where it comes).
    const auto each_piece = [&](auto body) {
#pragma unroll
      for (int j = 0; j < kBatch; ++j) {
        const int rank = first + j;
        if (rank >= peers.size || rank == peers.rank) continue;
        place.each(row, [&](int i, int64_t v) {
          body(rank, pieces[j][i].bits(), channel.here(rank, 0, at(v)));
        });
      }
    };
    each_piece([](int, uint4& piece, const uint4* from) { piece = peek(from); });
    channel.wait_for_pieces(each_piece);
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      const int rank = first + j;
      if (rank >= peers.size) continue;
      place.each(row, [&](int i, int64_t) {
        float x[N];
        device::to_float(rank == peers.rank ? own[i] : pieces[j][i], x);
#pragma unroll
        for (int k = 0; k < N; ++k) sums[i][k] += x[k];
      });
    }
  }
  place.each(row, [&](int i, int64_t) { own[i] = own_piece(device::from_float<T>(sums[i])); });
}

template <typename Job>
__global__ void __launch_bounds__(Job::kThreads, Job::kBlocksOfSm)
    OneShotKernel(const __grid_constant__ typename Job::Arguments arguments,
                  const __grid_constant__ Peers peers, ChannelSizes sizes, RowsShape shape,
                  Protocol protocol, bool triggers_early) {
  using T = typename Job::Element;
  constexpr int kVecs = Job::kVecs;
  using Row = Piece<T>[kVecs];
  constexpr int kAhead = Job::kLoadsAhead ? 2 : 1;
  const RowPlace<kVecs> place(shape);
  Job job(arguments, shape);
  Channel channel(peers, sizes, Inbox{shape.vecs, 1}, protocol);
  const auto row_of = [&](int step) { return place.of_step(step); };
  const auto has = [&](int step) { return step >= 0 && row_of(step) < shape.rows; };
  // Why apart from the pushes: all loads of a row are in flight before the first is waited for.
  const auto load = [&](int step, Row& row) {
    place.each(row_of(step), [&](int i, int64_t at) { row[i] = job.load(row_of(step), at); });
  };
  const auto push_row = [&](int step, Row& row) {
    place.each(row_of(step), [&](int i, int64_t at) {
      row[i] = own_piece(row[i]);
      for (int next = 1; next < peers.size; ++next) {
        const int peer = peers.rank + next - (peers.rank + next < peers.size ? 0 : peers.size);
        push(channel.there(peer, 0, at), row[i].bits());
      }
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
      sum_ranks<T>(channel, peers, place, row_of(step), [](int64_t at) { return at; }, own);
      // Why now: the announcement waits for the next row to arrive, which the link carries while
      // this one is summed.
      if (pushes) channel.announce(0, step + 1);
      // Why not before, and not by threads that have received nothing: the same block of each peer
      // runs now, and has no more to wait for than blocks that run. So the next kernel, which may
      // start when all blocks have come here, takes no room that a block needs to begin, where
      // ranks share a GPU.
      if (!pushes && !triggers_early && place.has_any(row_of(step))) device::pdl_trigger();
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
                  int64_t groups, Protocol protocol, bool triggers_early) {
  using T = typename Job::Element;
  constexpr int kVecs = Job::kVecs;
  using Row = Piece<T>[kVecs];
  constexpr int kScatter = 0, kGather = 1;
  const RowPlace<kVecs> place(shape);
  Job job(arguments, shape);
  Channel channel(peers, sizes, Inbox{groups * shape.row_vecs, kStages}, protocol);
  const auto group_of = [&](int step) { return place.of_step(step); };
  const auto has = [&](int step) { return step >= 0 && group_of(step) < groups; };
  const auto row_of = [&](int step, int owner) { return group_of(step) * peers.size + owner; };
  // A vector's place among the rows of one owner.
  const auto in_slot = [&](int step, int owner, int64_t at) {
    return at + (group_of(step) - row_of(step, owner)) * shape.row_vecs;
  };
  const auto scatter = [&](int step, Row& own) {
    for (int next = 0; next < peers.size; ++next) {
      const int owner = peers.rank + next - (peers.rank + next < peers.size ? 0 : peers.size);
      const int64_t row = row_of(step, owner);
      Row loaded;
      place.each(row, [&](int i, int64_t at) { loaded[i] = job.load(row, at); });
      place.each(row, [&](int i, int64_t at) {
        loaded[i] = own_piece(loaded[i]);
        if (next == 0) {
          own[i] = loaded[i];
        } else {
          push(channel.there(owner, kScatter, in_slot(step, owner, at)), loaded[i].bits());
        }
      });
    }
  };
  const auto reduce = [&](int step, Row& own) {
    channel.await(kScatter, step);
    const int64_t row = row_of(step, peers.rank);
    const auto slot_of = [&](int64_t at) { return in_slot(step, peers.rank, at); };
    sum_ranks<T>(channel, peers, place, row, slot_of, own);
    place.each(row, [&](int i, int64_t at) {
      for (int next = 1; next < peers.size; ++next) {
        const int peer = peers.rank + next - (peers.rank + next < peers.size ? 0 : peers.size);
        push(channel.there(peer, kGather, slot_of(at)), own[i].bits());
      }
    });
  };
  const auto gather = [&](int step, const Row& own) {
    channel.await(kGather, step);
    for (int owner = 0; owner < peers.size && row_of(step, owner) < shape.rows; ++owner) {
      const int64_t row = row_of(step, owner);
      Row sums;
      job.expect(place, row);
      if (owner == peers.rank) {
#pragma unroll
        for (int i = 0; i < kVecs; ++i) sums[i] = own[i];
      } else {
        const auto each_piece = [&](auto body) {
          place.each(row, [&](int i, int64_t at) {
            body(owner, sums[i].bits(), channel.here(owner, kGather, in_slot(step, owner, at)));
          });
        };
        each_piece([](int, uint4& piece, const uint4* from) { piece = peek(from); });
        channel.wait_for_pieces(each_piece);
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

// Blocks that are resident at once on every rank.
template <typename Job>
int64_t most_blocks(const Peers& peers) {
  const int64_t resident = int64_t{peers.most_blocks} * Job::kBlocksOfSm;
  return resident < kMostBlocks ? resident : kMostBlocks;
}

// The pieces that one rank receives, which its buffers have to hold.
inline int64_t received_pieces(const Exchange& exchange, const RowsShape& shape, int ranks) {
  if (!exchange.two_shot) return Inbox{shape.vecs, 1}.pieces(ranks);
  const int64_t groups = device::ceil_div(shape.rows, ranks);
  return Inbox{groups * shape.row_vecs, kStages}.pieces(ranks);
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
  const int64_t wanted = exchange.two_shot ? device::ceil_div(shape.rows, peers.size) : shape.rows;
  const int64_t most = most_blocks<OneShotJob>(peers) / config.cluster.x;
  const int64_t clusters = wanted < most ? wanted : (most > 0 ? most : 1);
  config.grid = dim3(static_cast<unsigned>(clusters * config.cluster.x));
  shape.steps = static_cast<int>(device::ceil_div(wanted, clusters));
  if (exchange.two_shot) {
    return device::launch<TwoShotKernel<TwoShotJob>>(config, arguments, peers, sizes, shape, wanted,
                                                     exchange.protocol, triggers_early);
  }
  return device::launch<OneShotKernel<OneShotJob>>(config, arguments, peers, sizes, shape,
                                                   exchange.protocol, triggers_early);
}

}  // namespace fictl::comm
