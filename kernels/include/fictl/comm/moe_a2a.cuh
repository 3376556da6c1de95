// moe_a2a: tokens go to the ranks that have their experts, and what the experts made of them comes
// back and is added up.
//
// Dispatch: a token is sent once to each rank that has one of its experts, however many it has
// there. On every rank a source has `most` places; its tokens take them in their order: the place
// of a token is the number of earlier ones for that rank, which a block counts before it begins. So
// nothing is counted by atomics, and the places are the same on each run. They are noted for the
// way back. Each row is read once, and pushed to all its ranks.
//
// Combine: replies lie in the memory of the experts' ranks, at the places of their tokens. Behind a
// barrier the source of a token reads them, from the first rank to the last, and adds them up in
// fp32. Why a pull here: no memory for replies is needed, and experts may write theirs in place.
//
// Ranks that are not active are neither written to nor waited for nor read: a token does not go to
// them, and what came from them before counts as nothing.
//
// Why one barrier each is enough: whoever writes again what a peer read in this dispatch or combine
// has passed the barrier of the other one since, where that peer came behind its reads. Where the
// places of payloads stay the same, that is all. With more tokens than before they reach into what
// were replies, which a slow peer still reads in its combine: a combine notes where its replies
// were, and a dispatch that writes there begins with a barrier. All ranks note the same, and a
// replayed graph follows what ran before it.
//
// Traffic: of a token, each payload is read once and written to up to N ranks; each reply crosses
// its link once, and the sum is written once.
//
// Tiling: a block for a token at a time, so that its loads are in flight together; a block has a
// stretch of tokens, to count once. The grid follows from `most`, as the ranks' tokens differ.
#pragma once

#include <fictl/comm/stages.cuh>
#include <fictl/device/convert.cuh>

namespace fictl::comm {

constexpr int kMoeThreads = 256;
constexpr int kMoeBlocks = 128;
constexpr int kMoePayloads = 8;

// Offsets are bytes into the data of each rank's memory.
constexpr int64_t kMoeCounts = 0;    // tokens that came from each rank
constexpr int64_t kMoePlaces = 128;  // of each own token at each rank; -1: it is not there
constexpr int64_t kMoeUnit = 128;    // bytes that the places of replies are noted in

struct MoeShape {
  int tokens;       // of this rank
  int most;         // of any rank
  unsigned active;  // ranks that take part, as bits: this one among them
};

struct MoePayload {
  const uint8_t* rows;
  int64_t bytes;     // of a row
  int64_t received;  // (ranks, most, bytes) on each rank
};

struct MoeDispatch {
  const int32_t* experts;  // (tokens, top_k)
  int top_k;
  int expert_count;
  int experts_of_rank;
  int payload_count;
  MoePayload payloads[kMoePayloads];
  int64_t begin;  // of all that is received, and its end: equal on all ranks, also those without
  int64_t end;    // tokens, whose payloads tell nothing
};

__device__ inline int32_t* moe_counts(const Peers& peers, int of) {
  return peers.data<int32_t>(of, kMoeCounts);
}
__device__ inline int32_t* moe_places(const Peers& peers, int64_t token) {
  return peers.data<int32_t>(peers.rank, kMoePlaces) + token * peers.size;
}

// Notes where a combine has its replies. Called by one thread of the grid.
__device__ inline void moe_note_replies(const Peers& peers, int64_t begin, int64_t bytes) {
  uint32_t* noted = &peers.own_header().state[kRepliesWord];
  noted[0] = static_cast<uint32_t>(begin / kMoeUnit);
  noted[1] = static_cast<uint32_t>((begin + bytes + kMoeUnit - 1) / kMoeUnit);
}

// Tells if a peer may still read what this dispatch writes.
__device__ inline bool moe_meets_replies(const Peers& peers, const MoeDispatch& dispatch) {
  const volatile uint32_t* noted = &peers.own_header().state[kRepliesWord];
  return dispatch.begin < noted[1] * kMoeUnit && dispatch.end > noted[0] * kMoeUnit;
}

// The active ranks with an expert of the token, as bits. Numbers that are no expert's count for
// nothing.
__device__ inline unsigned moe_ranks(const MoeShape& shape, const MoeDispatch& dispatch,
                                     int64_t token) {
  unsigned ranks = 0;
  for (int k = 0; k < dispatch.top_k; ++k) {
    const int expert = dispatch.experts[token * dispatch.top_k + k];
    if (expert >= 0 && expert < dispatch.expert_count) {
      ranks |= 1u << (expert / dispatch.experts_of_rank);
    }
  }
  return ranks & shape.active;
}

// Copies a row to its place on each rank of `ranks`.
template <int N>
__device__ void moe_send_row(const Peers& peers, const MoePayload& payload, int64_t token, int most,
                             unsigned ranks, const int (&places)[kMostRanks]) {
  const uint8_t* row = payload.rows + token * payload.bytes;
  const bool aligned = reinterpret_cast<uintptr_t>(row) % N == 0;
  for (int64_t i = int64_t{threadIdx.x} * N; i < payload.bytes; i += int64_t{kMoeThreads} * N) {
    const auto word = load_word<N>(row + i, aligned);
#pragma unroll
    for (int rank = 0; rank < kMostRanks; ++rank) {
      if ((ranks >> rank & 1) == 0) continue;
      const int64_t place = (int64_t{peers.rank} * most + places[rank]) * payload.bytes;
      device::store_l2(peers.data<uint8_t>(rank, payload.received + place + i), word);
    }
  }
}

__global__ void __launch_bounds__(kMoeThreads)
    MoeDispatchKernel(const __grid_constant__ Peers peers, MoeShape shape,
                      const __grid_constant__ MoeDispatch dispatch) {
  __shared__ int before[kMostRanks];
  begin(peers);
  if (moe_meets_replies(peers, dispatch)) barrier(peers, shape.active);
  const int each = (shape.tokens + static_cast<int>(gridDim.x) - 1) / static_cast<int>(gridDim.x);
  const int first = static_cast<int>(blockIdx.x) * each;
  const int end = first + each < shape.tokens ? first + each : shape.tokens;

  if (threadIdx.x < kMostRanks) before[threadIdx.x] = 0;
  __syncthreads();
  const int earlier = first < shape.tokens ? first : shape.tokens;
  for (int token = threadIdx.x; token < earlier; token += kMoeThreads) {
    const unsigned ranks = moe_ranks(shape, dispatch, token);
    for (int rank = 0; rank < peers.size; ++rank) {
      if (ranks >> rank & 1) atomicAdd(&before[rank], 1);
    }
  }
  __syncthreads();
  int places[kMostRanks];
#pragma unroll
  for (int rank = 0; rank < kMostRanks; ++rank) places[rank] = before[rank];

  for (int token = first; token < end; ++token) {
    const unsigned ranks = moe_ranks(shape, dispatch, token);
    for (int n = 0; n < dispatch.payload_count; ++n) {
      const MoePayload& payload = dispatch.payloads[n];
      if (payload.bytes % 16 == 0) {
        moe_send_row<16>(peers, payload, token, shape.most, ranks, places);
      } else if (payload.bytes % 4 == 0) {
        moe_send_row<4>(peers, payload, token, shape.most, ranks, places);
      } else {
        moe_send_row<1>(peers, payload, token, shape.most, ranks, places);
      }
    }
#pragma unroll
    for (int rank = 0; rank < kMostRanks; ++rank) {
      const bool is_there = ranks >> rank & 1;
      if (threadIdx.x == rank && rank < peers.size) {
        moe_places(peers, token)[rank] = is_there ? places[rank] : -1;
      }
      places[rank] += is_there;
    }
  }
  if (blockIdx.x == gridDim.x - 1) {
#pragma unroll
    for (int rank = 0; rank < kMostRanks; ++rank) {
      if (threadIdx.x != rank || rank >= peers.size) continue;
      if (shape.active >> rank & 1) {
        moe_counts(peers, rank)[peers.rank] = places[rank];
      } else {
        moe_counts(peers, peers.rank)[rank] = 0;
      }
    }
  }
  barrier(peers, shape.active);
}

// Copies replies of tokens that came here to `replies`, (ranks, most, bytes) in this rank's memory.
template <int N>
__global__ void __launch_bounds__(kMoeThreads)
    MoeStageKernel(const __grid_constant__ Peers peers, MoeShape shape, const uint8_t* rows,
                   int64_t bytes, int64_t replies) {
  begin(peers);
  const bool aligned = reinterpret_cast<uintptr_t>(rows) % N == 0;
  for (int row = blockIdx.x; row < peers.size * shape.most; row += gridDim.x) {
    if (row % shape.most >= moe_counts(peers, peers.rank)[row / shape.most]) continue;
    const uint8_t* from = rows + row * bytes;
    uint8_t* to = peers.data<uint8_t>(peers.rank, replies + row * bytes);
    for (int64_t i = int64_t{threadIdx.x} * N; i < bytes; i += int64_t{kMoeThreads} * N) {
      device::store_l2(to + i, load_word<N>(from + i, aligned));
    }
  }
}

template <typename T, int N>
__global__ void __launch_bounds__(kMoeThreads)
    MoeCombineKernel(const __grid_constant__ Peers peers, MoeShape shape, T* out, int64_t hidden,
                     int64_t replies, bool out_aligned) {
  begin(peers);
  barrier(peers, shape.active);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    moe_note_replies(peers, replies, int64_t{peers.size} * shape.most * hidden * sizeof(T));
  }
  for (int token = blockIdx.x; token < shape.tokens; token += gridDim.x) {
    const int32_t* places = moe_places(peers, token);
    for (int64_t i = int64_t{threadIdx.x} * N; i < hidden; i += int64_t{kMoeThreads} * N) {
      float sum[N] = {};
      for (int rank = 0; rank < peers.size; ++rank) {
        if (places[rank] < 0 || (shape.active >> rank & 1) == 0) continue;
        const int64_t row = int64_t{peers.rank} * shape.most + places[rank];
        float values[N];
        device::to_float(device::load_l2<N>(peers.data<T>(rank, replies) + row * hidden + i),
                         values);
        for (int n = 0; n < N; ++n) sum[n] += values[n];
      }
      store_word(out + token * hidden + i, device::from_float<T, N>(sum), out_aligned);
    }
  }
}

// Sets the experts of places without a token. experts: (ranks, most, top_k).
__global__ void __launch_bounds__(kMoeThreads)
    MoeSanitizeKernel(const __grid_constant__ Peers peers, int32_t* experts, int most, int top_k,
                      int32_t invalid) {
  begin(peers);
  const int64_t count = int64_t{peers.size} * most * top_k;
  const int64_t step = int64_t{gridDim.x} * kMoeThreads;
  for (int64_t i = int64_t{blockIdx.x} * kMoeThreads + threadIdx.x; i < count; i += step) {
    const int64_t row = i / top_k;
    if (row % most >= moe_counts(peers, peers.rank)[row / most]) experts[i] = invalid;
  }
}

inline device::LaunchConfig moe_config(const Peers& peers, int wanted, cudaStream_t stream,
                                       bool pdl) {
  const int most = peers.most_blocks < kMoeBlocks ? peers.most_blocks : kMoeBlocks;
  device::LaunchConfig config;
  config.grid = dim3(wanted < 1 ? 1 : wanted < most ? wanted : most);
  config.block = dim3(kMoeThreads);
  config.stream = stream;
  config.pdl = pdl;
  return config;
}

template <typename T>
constexpr int kElements = device::kVecBytes / sizeof(T);  // of a vector

inline cudaError_t DispatchMoe(const Peers& peers, const MoeShape& shape,
                               const MoeDispatch& dispatch, cudaStream_t stream = nullptr,
                               bool pdl = false) {
  // Why: ranks may share a GPU, and combine while a dispatch waits there.
  const cudaError_t status =
      device::load_kernels<MoeStageKernel<16>, MoeStageKernel<4>, MoeStageKernel<1>,
                           MoeCombineKernel<__half, kElements<__half>>, MoeCombineKernel<__half, 1>,
                           MoeCombineKernel<__nv_bfloat16, kElements<__nv_bfloat16>>,
                           MoeCombineKernel<__nv_bfloat16, 1>,
                           MoeCombineKernel<float, kElements<float>>, MoeCombineKernel<float, 1>>();
  if (status != cudaSuccess) return status;
  return device::launch<MoeDispatchKernel>(moe_config(peers, shape.most, stream, pdl), peers, shape,
                                           dispatch);
}

template <int N>
cudaError_t LaunchStageMoe(const device::LaunchConfig& config, const Peers& peers,
                           const MoeShape& shape, const void* rows, int64_t bytes,
                           int64_t replies) {
  return device::launch<MoeStageKernel<N>>(config, peers, shape, static_cast<const uint8_t*>(rows),
                                           bytes, replies);
}

inline cudaError_t StageMoe(const Peers& peers, const MoeShape& shape, const void* rows,
                            int64_t bytes, int64_t replies, cudaStream_t stream = nullptr,
                            bool pdl = false) {
  const auto launch = bytes % 16 == 0  ? LaunchStageMoe<16>
                      : bytes % 4 == 0 ? LaunchStageMoe<4>
                                       : LaunchStageMoe<1>;
  return launch(moe_config(peers, peers.size * shape.most, stream, pdl), peers, shape, rows, bytes,
                replies);
}

template <typename T>
cudaError_t CombineMoe(const Peers& peers, const MoeShape& shape, T* out, int64_t hidden,
                       int64_t replies, cudaStream_t stream = nullptr, bool pdl = false) {
  constexpr int N = kElements<T>;
  const auto config = moe_config(peers, shape.most, stream, pdl);
  if (hidden % N == 0) {
    return device::launch<MoeCombineKernel<T, N>>(config, peers, shape, out, hidden, replies,
                                                  is_aligned<N>(out));
  }
  return device::launch<MoeCombineKernel<T, 1>>(config, peers, shape, out, hidden, replies, true);
}

inline cudaError_t SanitizeMoe(const Peers& peers, int32_t* experts, int most, int top_k,
                               int32_t invalid, cudaStream_t stream = nullptr, bool pdl = false) {
  const int wanted = (peers.size * most * top_k + kMoeThreads - 1) / kMoeThreads;
  return device::launch<MoeSanitizeKernel>(moe_config(peers, wanted, stream, pdl), peers, experts,
                                           most, top_k, invalid);
}

}  // namespace fictl::comm
