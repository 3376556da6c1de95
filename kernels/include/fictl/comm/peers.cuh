// Memory of the ranks of one host as a kernel sees it: an address for each rank, flags with system
// scope, and a barrier of the ranks' blocks.
//
// Each rank's memory begins with a Header, zeros at first; data follow. Data are written to a peer
// and announced by a flag behind them (release); the peer waits for the flag (acquire). A counter
// only grows, and a wait is for "at least": a fast peer may be ahead.
//
// Every rank launches the same kernels with the same grids in the same order, so sizes and paths
// follow from values that are equal on all ranks. All blocks of a grid that waits must be resident
// at once, on a GPU that several ranks share those of all ranks: `most_blocks` says how many a rank
// may launch.
#pragma once

#include <cuda_runtime.h>

#include <fictl/device/launch.cuh>

#include <cstdint>

namespace fictl::comm {

constexpr int kMostRanks = 8;
constexpr int kMostBlocks = 256;  // of a kernel whose blocks wait for peers
constexpr int kStateWords = 256;
constexpr unsigned kAllRanks = ~0u;  // ranks as bits

// Words of Header::state that have an owner.
constexpr int kRepliesWord = 2;  // moe_a2a.cuh: where the last combine's replies began, and ended

// Counters that an all-reduce by channel.cuh finds, as those before have left them.
struct alignas(16) ChannelCounters {
  uint32_t lamport;  // calls by each protocol, modulo its buffers
  uint32_t used;     // pieces that the last call by Lamport's protocol has received
  uint32_t flags;
  uint32_t
      announced;  // steps that this block has announced: alone of them, not equal in all copies
};

// Counters of calls have a copy for each block. A block reads its own one, and writes those of
// for_each_copy(): so all copies advance in every call, of whatever grid, and no block has to know
// how far the others are.
struct Header {
  uint32_t passed[kMostBlocks];            // barriers that this rank's block has passed
  uint32_t came[kMostBlocks][kMostRanks];  // barriers that the block of each peer has come to
  uint32_t turns[kMostBlocks];             // turn.cuh: calls so far
  ChannelCounters channel[kMostBlocks];
  uint32_t state[kStateWords];  // of other protocols, this rank's own
};

constexpr int64_t kHeaderBytes = 16384;
static_assert(sizeof(Header) <= kHeaderBytes, "data begin behind the header");

// A wait that took too long, for the host to read: fictl/comm/late.py.
struct Late {
  int64_t is_there;  // 1 while it is written, 2 behind it
  int64_t peer;      // -1: unknown
  int64_t block;
  int64_t wanted;
  int64_t have;
};

// Addresses are valid in this process; it is passed to kernels by value.
struct Peers {
  char* memory[kMostRanks];
  int rank;
  int size;
  int most_blocks;
  bool have_gpus;       // each rank a GPU of its own, which no other rank uses
  int64_t patience_ns;  // 0: wait for ever
  Late* late;           // memory of the host; null where patience_ns is 0

  __device__ Header& header(int of) const { return *reinterpret_cast<Header*>(memory[of]); }
  __device__ Header& own_header() const { return header(rank); }

  // Data of the rank `of`, `offset` bytes behind its header.
  template <typename T>
  __device__ T* data(int of, int64_t offset = 0) const {
    return reinterpret_cast<T*>(memory[of] + kHeaderBytes + offset);
  }
};

// Blocks of a kernel, of which an SM has `of_sm`, that are resident at once on every rank.
inline int resident_blocks(const Peers& peers, int of_sm) {
  const int resident = peers.most_blocks * of_sm;
  return resident < kMostBlocks ? resident : kMostBlocks;
}

// Begins a kernel behind the one before. The next one may set up meanwhile, and waits for the end
// of this one: every block has begun by then, so it takes no room that one of them needs. Where
// ranks share a GPU it could take that of a peer for which this one waits.
__device__ inline void begin(const Peers& peers) {
  device::pdl_wait();
  if (peers.have_gpus) device::pdl_trigger();
}

// Writes of this thread, and those of others that it knows of, are visible to whoever sees the
// flag.
__device__ inline void store_release(uint32_t* flag, uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

__device__ inline uint32_t load_acquire(const uint32_t* flag) {
  uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

__device__ inline int64_t now_ns() {
  int64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

// Calls body(copy) for the copies of counters that are for this block to write: its own, and those
// of blocks that the grid does not have. Called by all threads of the block once in each call, when
// all of them have read their copy.
//
// Why no fence and no atomic: a copy is read by the block of its number alone, before a
// __syncthreads(), and written behind that by one thread of the one block that it belongs to in
// this grid. Other calls see what they left when the kernel has ended, also under programmatic
// dependent launch, where griddepcontrol.wait waits for its end and for its writes.
template <typename Body>
__device__ void for_each_copy(Body body) {
  __syncthreads();
  const int step = static_cast<int>(gridDim.x * blockDim.x);
#pragma unroll 1
  for (int copy = static_cast<int>(blockIdx.x + threadIdx.x * gridDim.x); copy < kMostBlocks;
       copy += step) {
    body(copy);
  }
}

// Counters wrap around.
__device__ inline bool has_reached(uint32_t count, uint32_t wanted) {
  return static_cast<int32_t>(count - wanted) >= 0;
}

// The time of one wait. Every loop that waits for a peer calls spend() each time around:
//   Patience patience(peers);
//   while (!is_there()) patience.spend(peer);
// With a limit, as in debug mode, the kernel ends behind a word to the host.
class Patience {
 public:
  __device__ explicit Patience(const Peers& peers) : peers_(peers) {}

  __device__ void spend(int peer, uint32_t wanted = 0, uint32_t have = 0) {
    constexpr int kLooks = 64;  // Why not at each: the timer takes longer than a look.
    if (peers_.patience_ns == 0 || ++looks_ % kLooks != 0) return;
    const int64_t now = now_ns();
    if (began_ == 0) began_ = now;
    if (now - began_ > peers_.patience_ns) give_up(peer, wanted, have);
  }

 private:
  __device__ void give_up(int peer, uint32_t wanted, uint32_t have) {
    auto* word = reinterpret_cast<unsigned long long*>(&peers_.late->is_there);
    if (atomicCAS(word, 0ull, 1ull) == 0) {
      volatile Late& late = *peers_.late;
      late.peer = peer;
      late.block = blockIdx.x;
      late.wanted = wanted;
      late.have = have;
      __threadfence_system();
      late.is_there = 2;
      __threadfence_system();
    }
    __trap();
  }

  const Peers& peers_;
  int64_t began_ = 0;
  int looks_ = 0;
};

__device__ inline void wait_for(const Peers& peers, int peer, const uint32_t* flag,
                                uint32_t wanted) {
  Patience patience(peers);
  uint32_t count;
  while (!has_reached(count = load_acquire(flag), wanted)) patience.spend(peer, wanted, count);
}

// One thread for each peer tells it that this block has come to its barrier number `count`. What
// all threads of the block wrote before is visible to those that wait for it. Peers that are not
// among `ranks` are left alone: their memory may be gone.
__device__ inline void arrive(const Peers& peers, uint32_t count, unsigned ranks = kAllRanks) {
  __syncthreads();
  const int peer = threadIdx.x;
  if (peer < peers.size && (ranks >> peer & 1) != 0) {
    store_release(&peers.header(peer).came[blockIdx.x][peers.rank], count);
  }
}

// Waits until the same block of every rank among `ranks` has come to barrier `count`.
__device__ inline void await(const Peers& peers, uint32_t count, unsigned ranks = kAllRanks) {
  const int peer = threadIdx.x;
  if (peer < peers.size && (ranks >> peer & 1) != 0) {
    wait_for(peers, peer, &peers.own_header().came[blockIdx.x][peer], count);
  }
  __syncthreads();
}

// Barriers that this block has passed, in all kernels so far; the next one is one more.
__device__ inline uint32_t passed(const Peers& peers) {
  const volatile uint32_t* count = &peers.own_header().passed[blockIdx.x];
  return *count;
}

// Called once by all threads, when the block has passed its last barrier of this kernel.
__device__ inline void set_passed(const Peers& peers, uint32_t count) {
  __syncthreads();
  if (threadIdx.x == 0) peers.own_header().passed[blockIdx.x] = count;
}

// Waits for the same block of every rank among `ranks`, which are the same on each of them. A block
// has at least kMostRanks threads, and the grid one dimension and at most kMostBlocks blocks.
__device__ inline void barrier(const Peers& peers, unsigned ranks = kAllRanks) {
  const uint32_t count = passed(peers) + 1;
  arrive(peers, count, ranks);
  await(peers, count, ranks);
  set_passed(peers, count);
  __syncthreads();  // Why: the next barrier reads it.
}

}  // namespace fictl::comm
