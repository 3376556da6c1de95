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
// Counters live in each rank's own memory, and its last block advances them: a graph replays the
// same launch any number of times. They are equal on all ranks, as all make the same calls.
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

// The words of Header::state that an all-reduce uses, from kFreeWords on.
struct ChannelState {
  uint32_t calls[2];  // by protocol, modulo its buffers
  uint32_t used;      // pieces that the last call by Lamport's protocol has received
  uint32_t blocks;    // that have ended, of the call that runs
};
static_assert(sizeof(ChannelState) <= (kStateWords - kFreeWords) * sizeof(uint32_t),
              "it lies in the header");

// Counters of steps, which only grow. They begin as the sentinel, as all data do.
//
// Why a block has its own: what it has announced is then what it has done, however long other calls
// had smaller grids. A count for all would pass those of idle blocks, and wrap around to them.
struct Announcements {
  uint32_t steps[kStages][kMostBlocks][kMostRanks];  // announced by the block of each peer
  uint32_t done[kMostBlocks];                        // of this rank's block, in earlier calls
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
  int64_t slot_pieces;
  int stages;

  __host__ __device__ int64_t pieces(int ranks) const { return slot_pieces * (ranks - 1) * stages; }
};

class Channel {
 public:
  __device__ Channel(const Peers& peers, ChannelSizes sizes, Inbox inbox, Protocol protocol)
      : peers_(peers), sizes_(sizes), inbox_(inbox), protocol_(protocol) {}

  // Behind pdl_wait(): reads the counters that the call before has left.
  __device__ void open() {
    const volatile ChannelState& state = this->state();
    const uint32_t call = state.calls[static_cast<int>(protocol_)];
    buffer_ = start_of(call);
    const volatile uint32_t& done = announcements(peers_.rank).done[blockIdx.x];
    announced_ = done;
    used_ = state.used;
    cleared_ = protocol_ == Protocol::kLamport
                   ? start_of((call + kLamportBuffers - 1) % kLamportBuffers)
                   : 0;
  }

  // Where this rank's piece `at` goes at a peer, and where that of a peer comes.
  __device__ uint4* there(int peer, int stage, int64_t at) const {
    return slot(peer, peers_.rank, stage) + at;
  }
  __device__ const uint4* here(int peer, int stage, int64_t at) const {
    return slot(peers_.rank, peer, stage) + at;
  }

  // The piece of a peer, once it is there.
  __device__ uint4 take(int peer, int stage, int64_t at) const {
    const uint4* from = here(peer, stage, at);
    uint4 piece = peek(from);
    if (!has_sentinels()) return piece;
    for (Patience patience(peers_); !is_there(piece); piece = peek(from)) patience.spend(peer);
    return piece;
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
    uint4* pieces = peers_.data<uint4>(peers_.rank, cleared_);
    const uint4 empty = make_uint4(kSentinel, kSentinel, kSentinel, kSentinel);
    for (int64_t at = thread; at < used_; at += threads) push(pieces + at, empty);
  }

  // Ends this block's part; the last block to come leaves the counters for the next call.
  // `steps`: that the block has announced.
  __device__ void close(int steps) const {
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (!has_sentinels()) announcements(peers_.rank).done[blockIdx.x] = announced_ + steps;
    ChannelState& state = this->state();
    __threadfence();
    if (atomicAdd(&state.blocks, 1u) != gridDim.x - 1) return;
    __threadfence();
    state.blocks = 0;
    if (has_sentinels()) {
      state.calls[0] = (state.calls[0] + 1) % kLamportBuffers;
      state.used = static_cast<uint32_t>(inbox_.pieces(peers_.size));
    } else {
      state.calls[1] = (state.calls[1] + 1) % kFlagBuffers;
    }
  }

 private:
  __device__ ChannelState& state() const {
    return *reinterpret_cast<ChannelState*>(peers_.own_header().state + kFreeWords);
  }

  __device__ Announcements& announcements(int of) const { return *peers_.data<Announcements>(of); }

  __device__ int64_t start_of(uint32_t buffer) const {
    const int64_t start = sizes_.buffers();
    if (has_sentinels()) return start + buffer * sizes_.lamport;
    return start + kLamportBuffers * sizes_.lamport + buffer * sizes_.flags;
  }

  // The slot at rank `at` of what `from` pushes. No rank pushes to itself.
  __device__ uint4* slot(int at, int from, int stage) const {
    const int distance = from - at + (from < at ? peers_.size : 0);
    const int64_t slots = int64_t{stage} * (peers_.size - 1) + distance - 1;
    return peers_.data<uint4>(at, buffer_) + slots * inbox_.slot_pieces;
  }

  const Peers& peers_;
  ChannelSizes sizes_;
  Inbox inbox_;
  Protocol protocol_;
  int64_t buffer_ = 0;
  int64_t cleared_ = 0;
  uint32_t announced_ = 0;
  uint32_t used_ = 0;
};

}  // namespace fictl::comm
