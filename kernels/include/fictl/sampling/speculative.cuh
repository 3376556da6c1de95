// Chain speculative sampling: accepts a request's drafted tokens as the target model would, and
// draws the token that follows them.
//
// Algorithm: a draft of probability p is accepted if u p < q, q being the target's probability of
// it and u a random number; lanes look at 32 drafts at once. The draft ends at the first token that
// is not accepted. The next one is drawn from what the target's row has beyond the draft's there,
// max(q - p, 0), or, if all were accepted, from the target's row: the tiles of the row are summed
// up by warps; the first block finds the tile where the sum passes a random number, reads it again
// and finds the token.
//
// Traffic: of all rows of a request, the two where the draft ends are read, once, and one tile of
// them again. Why the target's own sums come along: where rounding left nothing beyond the draft's
// row, they say what to draw without another read.
//
// Tiling: the blocks of a cluster share the row, tile by tile, and send the sums to the first
// block. Each computes where the draft ends: that takes less time than receiving it. Why 512
// threads and not 1024: of two blocks on an SM one looks at its drafts while the other reads, and
// clusters of smaller blocks find room sooner. 16 requests of 128 K tokens take 9.0 us, not 11.7.
#pragma once

#include <fictl/device/cluster.cuh>
#include <fictl/device/element.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/profiler.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/sampling/philox.cuh>
#include <fictl/sampling/tiles.cuh>

namespace fictl::sampling {

constexpr int kSpeculativeThreads = 512;
constexpr int kSpeculativeBlocks = 2;  // on an SM

// The drafted tokens of a batch. All strides are in elements.
struct Drafts {
  const void* tokens;
  bool wide;  // int64, else int32
  int64_t request_pitch;
  int64_t step_pitch;
  int count;  // a request

  // -1 for a number outside of the vocabulary.
  __device__ int token(int64_t request, int step, int vocab) const {
    const int64_t at = request * request_pitch + step * step_pitch;
    const int64_t token =
        wide ? static_cast<const int64_t*>(tokens)[at] : static_cast<const int32_t*>(tokens)[at];
    return token >= 0 && token < vocab ? static_cast<int>(token) : -1;
  }
};

// Rows of probabilities, one for each step of each request.
template <typename T>
struct StepRows {
  const T* data;
  int64_t request_pitch;
  int64_t step_pitch;
  int vocab;
  bool aligned;  // to vectors

  __device__ TiledRow<T> row(int64_t request, int step) const {
    return {data + request * request_pitch + step * step_pitch, vocab, aligned};
  }

  __device__ float of(int64_t request, int step, int token) const {
    return device::Element<T>::to_float(row(request, step).data[token]);
  }
};

// The outputs: the tokens, with -1 after the last one, and the numbers of accepted drafts. The
// counts are added to what is there, or replace it.
struct Told {
  int32_t* tokens;
  int64_t pitch;
  int32_t* accepted;  // of all drafts, each looked at alone
  int32_t* emitted;   // before the first that was not
  bool adds_accepted;
  bool adds_emitted;

  __device__ void count(int64_t request, int of_all, int at_once) const {
    accepted[request] = of_all + (adds_accepted ? accepted[request] : 0);
    emitted[request] = at_once + (adds_emitted ? emitted[request] : 0);
  }
};

// Where a draft ends.
struct DraftEnd {
  int step;       // the first that is not taken, or the number of drafts
  bool beyond;    // the next token is drawn from what the target has beyond the draft's row
  int last_draw;  // the place of the next token's random number
};

// The i-th random number of a row's stream.
__device__ inline float nth_uniform(Draws draws, int64_t row, int i) {
  if (draws.offsets != nullptr) draws.offset = draws.offsets[row * draws.offset_step];
  draws.offsets = nullptr;
  draws.offset += i;
  return draws.of(row).uniform();
}

// Finds where the draft ends. Called by a warp. `tells`: it writes all tokens but the last.
template <typename T>
__device__ DraftEnd end_of_draft(const Drafts& drafts, const StepRows<T>& draft,
                                 const StepRows<T>& target, const Draws& draws, const Told& told,
                                 int64_t request, bool tells) {
  constexpr unsigned kAll = 0xffffffff;
  const int lane = threadIdx.x % device::kWarpSize;
  int32_t* tokens = told.tokens + request * told.pitch;
  DraftEnd end{drafts.count, false, drafts.count};
  int accepted = 0;
  for (int start = 0; start < drafts.count; start += device::kWarpSize) {
    const int step = start + lane;
    const bool there = step < drafts.count;
    const int token = there ? drafts.token(request, step, target.vocab) : -1;
    bool taken = false;
    if (token >= 0) {
      const float p = draft.of(request, step, token);
      const float q = target.of(request, step, token);
      taken = nth_uniform(draws, request, step) * p < q;
    }
    const unsigned refused = __ballot_sync(kAll, there && !taken);
    accepted += __popc(__ballot_sync(kAll, taken));
    if (refused != 0 && end.step == drafts.count) {
      const int first = __ffs(refused) - 1;
      // Why another number than the next: FlashInfer spends one on looking at this draft again, and
      // the same seeds give the same tokens.
      end = {start + first, __shfl_sync(kAll, token, first) >= 0, drafts.count + 1};
    }
    if (tells && there && step < end.step) tokens[step] = token;
    if (tells && there && step >= end.step) tokens[step + 1] = -1;
  }
  if (tells && lane == 0) told.count(request, accepted, end.step);
  return end;
}

// The surplus of the target's row over the draft's. NaN counts as 0.
__device__ inline LaneTile beyond(LaneTile q, const LaneTile& p) {
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) q.x[i] = fmaxf(q.x[i] - p.x[i], 0.0f);
  return q;
}

__device__ inline LaneTile above_zero(LaneTile q) {
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) q.x[i] = fmaxf(q.x[i], 0.0f);
  return q;
}

// The sums of a row's tiles: of what it is to be drawn from, and of the target's alone.
struct SpeculativeStorage {
  float beyond[kMostTiles];
  float target[kMostTiles];
  DraftEnd end;
};

// The token at which `u` of the row's sum is passed. Called by a warp.
template <typename T>
__device__ int draw_next(const SpeculativeStorage& storage, const TiledRow<T>& target,
                         const TiledRow<T>& draft, bool is_beyond, float u) {
  const int tiles = target.tiles();
  const auto beyond_of = [&](int tile) { return storage.beyond[tile]; };
  const auto target_of = [&](int tile) { return storage.target[tile]; };
  float total = is_beyond ? total_of(beyond_of, tiles) : 0.0f;
  is_beyond = total > 0.0f;
  if (!is_beyond) total = total_of(target_of, tiles);
  const Place tile =
      is_beyond ? place_of(beyond_of, tiles, u * total) : place_of(target_of, tiles, u * total);
  if (tile.at < 0) return 0;
  const LaneTile q = target.load(tile.at, 0.0f);
  const LaneTile weights = is_beyond ? beyond(q, draft.load(tile.at, 0.0f)) : above_zero(q);
  return tile.at * kTile + place_in_tile(weights, tile.remaining);
}

template <typename T>
__global__ void __launch_bounds__(kSpeculativeThreads, kSpeculativeBlocks)
    ChainSpeculativeKernel(Drafts drafts, StepRows<T> draft, StepRows<T> target, Draws draws,
                           Told told) {
  FICTL_KERNEL("chain_speculative_sampling");
  __shared__ SpeculativeStorage storage;
  using device::Cluster;
  const int64_t request = blockIdx.x / Cluster::size();
  const int rank = Cluster::rank();
  const int warp = threadIdx.x / device::kWarpSize;
  const int warps = blockDim.x / device::kWarpSize;
  const bool leads = rank == 0 && warp == 0;
  Cluster::arrive();
  device::pdl_wait();
  device::pdl_trigger();
  if (warp == 0) {
    FICTL_SCOPE("end of draft");
    const DraftEnd end = end_of_draft(drafts, draft, target, draws, told, request, leads);
    if (threadIdx.x == 0) storage.end = end;
  }
  __syncthreads();
  const DraftEnd end = storage.end;
  const TiledRow<T> q_row = target.row(request, end.step);
  const TiledRow<T> p_row = draft.row(request, end.beyond ? end.step : 0);
  Cluster::wait();  // Why here: the first block has started.
  SpeculativeStorage* first = Cluster::at(&storage, 0);
  {
    FICTL_SCOPE("sums");
    for (int tile = rank * warps + warp; tile < q_row.tiles(); tile += Cluster::size() * warps) {
      const LaneTile q = q_row.load(tile, 0.0f);
      if (end.beyond) {
        const float sum = tile_sum(beyond(q, p_row.load(tile, 0.0f)));
        if (threadIdx.x % device::kWarpSize == 0) first->beyond[tile] = sum;
      }
      const float sum = tile_sum(above_zero(q));
      if (threadIdx.x % device::kWarpSize == 0) first->target[tile] = sum;
    }
  }
  Cluster::arrive();
  if (rank != 0) return;
  Cluster::wait();
  if (!leads) return;
  FICTL_SCOPE("draw");
  const float u = nth_uniform(draws, request, end.last_draw);
  const int token = draw_next(storage, q_row, p_row, end.beyond, u);
  if (threadIdx.x == 0) told.tokens[request * told.pitch + end.step] = token;
}

// Samples from rows of up to kMostElements. `told.tokens` has drafts.count + 1 for each request.
// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename T>
cudaError_t ChainSpeculative(const Drafts& drafts, const StepRows<T>& draft,
                             const StepRows<T>& target, const Draws& draws, const Told& told,
                             int64_t requests, int sm_count, cudaStream_t stream = nullptr,
                             bool pdl = false) {
  if (requests == 0) return cudaSuccess;
  constexpr auto kernel = ChainSpeculativeKernel<T>;
  constexpr int64_t kLeast = 2048;  // elements a block
  const int blocks = device::blocks_a_row<kernel>(requests, target.vocab, kLeast, sm_count);
  const int64_t tiles = device::ceil_div(target.vocab, kTile);
  const int64_t wanted = device::ceil_div(tiles, blocks) * device::kWarpSize;
  device::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(requests * blocks));
  config.block =
      dim3(wanted < kSpeculativeThreads ? static_cast<unsigned>(wanted) : kSpeculativeThreads);
  config.cluster = dim3(blocks);
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<kernel>(config, drafts, draft, target, draws, told);
}

}  // namespace fictl::sampling
