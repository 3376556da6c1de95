// Channel: the buffers that all-reduces push into, and how a rank learns that data have come.
//
// Two protocols, each with buffers of its own in every rank's memory:
//   Lamport   Three buffers that hold the sentinel where there are no data. A piece is there when
//             no word of it is the sentinel: no flag, no fence, one hop. A call takes the next
//             buffer, and clears that of the call before: a peer writes there again two calls
//             later, and before that it has waited for data of this rank's call between.
//   flags     Two buffers, and for each block and peer a counter of announced steps, which only
//             grows. A peer writes to a buffer again two calls later, as above. Nothing is cleared:
//             for large messages the sentinel costs a write of every received byte.
//
// Counters live in each rank's own memory, a copy for each block, and a call advances them for the
// next one (for_each_copy()): a graph replays the same launch any number of times. They are equal
// on all ranks, as all make the same calls.
#pragma once

#include <fictl/comm/peers.cuh>
#include <fictl/comm/words.cuh>
#include <fictl/device/math.cuh>

namespace fictl::comm {

enum class Protocol { kLamport = 0, kFlags = 1 };

constexpr int kLamportBuffers = 3;
constexpr int kFlagBuffers = 2;
constexpr int kStages = 2;
constexpr int64_t kPieceBytes = 16;

// Counters of steps, announced by the block of each peer, which only grow. They begin as the
// sentinel, as all data do.
//
// Why a block has its own: what it has announced is then what it has done, however long other calls
// had smaller grids. A count for all would pass those of idle blocks, and wrap around to them.
struct Announcements {
  uint32_t steps[kStages][kMostBlocks][kMostRanks];
};

// Bytes of one buffer of each protocol: multiples of a piece.
struct ChannelSizes {
  int64_t lamport;
  int64_t flags;

  __host__ __device__ int64_t buffers() const { return sizeof(Announcements); }
  int64_t bytes() const { return buffers() + kLamportBuffers * lamport + kFlagBuffers * flags; }
  int64_t of(Protocol protocol) const { return protocol == Protocol::kLamport ? lamport : flags; }
};

// Pieces that a rank receives: `slots` of them, one for each peer, twice if a sum comes back.
struct Inbox {
  int slot_pieces;
  int stages;

  __host__ __device__ int64_t pieces(int ranks) const {
    return int64_t{slot_pieces} * (ranks - 1) * stages;
  }
};

class Channel {
 public:
  __device__ Channel(const Peers& peers, ChannelSizes sizes, Inbox inbox, Protocol protocol)
      : peers_(peers), sizes_(sizes), inbox_(inbox), protocol_(protocol) {}

  // Behind pdl_wait(): reads the counters that the call before has left.
  __device__ void open() {
    const uint4 words = peek(&peers_.own_header().channel[blockIdx.x]);
    const ChannelCounters found = {words.x, words.y, words.z, words.w};
    call_ = has_sentinels() ? found.lamport : found.flags;
    used_ = found.used;
    announced_ = kSentinel + found.announced;
    buffer_ = start_of(call_);
  }

  // Where this rank's piece `at` goes at a peer, and where that of a peer comes.
  __device__ uint4* there(int peer, int stage, int at) const {
    return slot(peer, peers_.rank, stage) + at;
  }
  __device__ const uint4* here(int peer, int stage, int at) const {
    return slot(peers_.rank, peer, stage) + at;
  }

  // Pushes a piece to all peers, from the next rank on: each link has one writer at a time.
  __device__ void push_to_all(int stage, int at, uint4 piece) const {
    // Why not unrolled: addresses of eight ranks would be computed before the first store.
#pragma unroll 1
    for (int next = 1; next < peers_.size; ++next) {
      const int peer = peers_.rank + next - (peers_.rank + next < peers_.size ? 0 : peers_.size);
      push(there(peer, stage, at), piece);
    }
  }

  __device__ bool has_sentinels() const { return protocol_ == Protocol::kLamport; }

  // Tells all peers that the block has pushed the data of `step`, counted from 0. Called by all
  // threads of the block.
  __device__ void announce(int stage, int step) const {
    if (has_sentinels()) return;
    __syncthreads();
    const int peer = threadIdx.x;
    if (peer < peers_.size && peer != peers_.rank) {
      store_release(&announcements(peer).steps[stage][blockIdx.x][peers_.rank],
                    announced_ + step + 1);
    }
  }

  // Waits until the same block of every peer has announced the step.
  __device__ void await(int stage, int step) const {
    if (has_sentinels()) return;
    const int peer = threadIdx.x;
    if (peer < peers_.size && peer != peers_.rank) {
      wait_for(peers_, peer, &announcements(peers_.rank).steps[stage][blockIdx.x][peer],
               announced_ + step + 1);
    }
    __syncthreads();
  }

  // Clears what the call before has received. Called by all threads of the grid, once.
  __device__ void clear() const {
    if (!has_sentinels()) return;
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t threads = int64_t{gridDim.x} * blockDim.x;
    const uint32_t before = call_ == 0 ? kLamportBuffers - 1 : call_ - 1;
    uint4* pieces = peers_.data<uint4>(peers_.rank, start_of(before));
    const uint4 empty = make_uint4(kSentinel, kSentinel, kSentinel, kSentinel);
    for (int64_t at = thread; at < used_; at += threads) push(pieces + at, empty);
  }

  // Writes the counters for the next call. Called once by all threads of the block, anywhere behind
  // open(): best where it waits for peers anyway. `steps`: that a block announces in this call, at
  // most, equal on all ranks. Numbers may be left out, as a wait is for "at least".
  __device__ void count_call(int steps) const {
    ChannelCounters* counters = peers_.own_header().channel;
    const uint32_t buffers = has_sentinels() ? kLamportBuffers : kFlagBuffers;
    const uint32_t next = call_ + 1 == buffers ? 0 : call_ + 1;
    for_each_copy([&](int copy) {
      if (has_sentinels()) {
        counters[copy].lamport = next;
        counters[copy].used = static_cast<uint32_t>(inbox_.pieces(peers_.size));
      } else {
        counters[copy].flags = next;
        if (copy == static_cast<int>(blockIdx.x)) {
          counters[copy].announced = announced_ - kSentinel + steps;
        }
      }
    });
  }

 private:
  __device__ Announcements& announcements(int of) const { return *peers_.data<Announcements>(of); }

  __device__ int64_t start_of(uint32_t buffer) const {
    const int64_t start = sizes_.buffers();
    if (has_sentinels()) return start + buffer * sizes_.lamport;
    return start + kLamportBuffers * sizes_.lamport + buffer * sizes_.flags;
  }

  // The slot at rank `at` of what `from` pushes. No rank pushes to itself.
  __device__ uint4* slot(int at, int from, int stage) const {
    const int distance = from - at + (from < at ? peers_.size : 0);
    const int slots = stage * (peers_.size - 1) + distance - 1;
    return peers_.data<uint4>(at, buffer_) + int64_t{slots} * inbox_.slot_pieces;
  }

  const Peers& peers_;
  ChannelSizes sizes_;
  Inbox inbox_;
  Protocol protocol_;
  int64_t buffer_ = 0;
  uint32_t call_ = 0;
  uint32_t announced_ = 0;
  uint32_t used_ = 0;
};

}  // namespace fictl::comm
