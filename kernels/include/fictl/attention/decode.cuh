// Attention for tiles of 16 rows of queries on tensor cores, for GPUs from sm_80 on. It decodes:
// the rows are the query heads that share a head of the keys, for one query or a few.
//
// Algorithm: the warps of a block take turns at the tiles of keys. Each warp has all 16 rows, and
// an online softmax of its own keys. At the end the warps' sums meet in shared memory. Rows beyond
// those of the request are computed too, but not stored.
//
// Traffic: every key and value is read once for all query heads of its group; all else is small.
// The limit is the memory's bandwidth, so the design is about bytes in flight.
//
// Tiling: a stage of a warp is 4 KiB of keys and 4 KiB of values: 16 keys of 128 dims of 16 bits.
// With 256 dims it is 16 keys too, the fewest that tensor cores take. Heads that are no power of
// two have as many keys as the next one. Keys are loaded again as soon
// as they have been multiplied, and so are values. Both stages of a warp are then in flight, except
// for the part in use. A block has 4 warps (2 with 256 dims, 1 with 512), and three blocks share an
// SM. That is up to 192 KiB in flight on an SM; 3 MiB on the whole GPU cover the latency of HBM.
// The loop has no barrier of the block: a warp waits for its own copies only.
//
// Order: blocks of adjacent heads run side by side, so that together they read whole tokens. One
// head after the other takes 2 to 4 % longer.
//
// Pages: where a tile of keys lies within a page, one lookup and a constant step find all of it.
// That takes pages of 16 keys or more. Otherwise every lane looks up a key and shuffles its address
// to the others.
//
// Shared memory: 64 KiB of stages and 4 KiB of queries (8 KiB with 256 dims). That is 68 of the 99
// KiB that any GPU gives a block.
//
// Registers, a thread, with 128 dims: 64 for the sum, 16 for the scores, and the operands in
// flight: 168 in all. The scores of 16 keys are in two halves, whose products do not wait for each
// other. With the queries in registers too, there would be two blocks of three stages. That is as
// fast on an H200, within 1 %, but leaves one block on an A100.
//
// Measured on an H200 in bf16, with the merge; FlashInfer in the same run comes second:
//   64 requests of 8192 keys, 32 heads, 8 of the keys: 490 us (4.38 TB/s) and 491 us
//   16 of 4096, 64 heads: 69 and 74
//   one of 131072: 129 and 134
//   256 of 1024, 32 heads: 244 and 261
//   16 of 2048, 32 heads, as many of the keys: 128 and 125
//
// 8-bit keys and values become fp16 in registers; queries of bf16 are scaled to it. Four elements
// that are contiguous along the contraction are a lane's share of one operand, if the queries'
// elements come in that order too. Values are contiguous along the result instead: their even dims
// are one operand, their odd dims another. Of four bits, elements that are two apart are a pair,
// and tiles may have 8 rows: decode_fp4.cuh.
#pragma once

#include <string.h>

#include <type_traits>

#include <fictl/attention/decode_fp4.cuh>
#include <fictl/attention/decode_lanes.cuh>
#include <fictl/attention/decode_stages.cuh>
#include <fictl/attention/epilogue.cuh>
#include <fictl/attention/merged_part.cuh>
#include <fictl/attention/problem.cuh>
#include <fictl/attention/queries.cuh>
#include <fictl/attention/row.cuh>
#include <fictl/attention/tile.cuh>
#include <fictl/attention/variant.cuh>
#include <fictl/device/copy.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/ldmatrix.cuh>
#include <fictl/device/mma.cuh>
#include <fictl/device/shared_parts.cuh>
#include <fictl/device/softmax.cuh>
#include <fictl/device/widen.cuh>

namespace fictl::attention {

// The part of a tile that a warp holds, spread over its lanes as DecodeLanes says.
template <typename Config>
class DecodeWarp {
  using Shape = DecodeShape<Config>;
  using Q = typename Shape::Q;
  using KV = typename Shape::KV;
  // Weights, and values as they are multiplied. Values of 8 bits are fp16 exactly, by one
  // instruction for two, where bf16 takes four; and weights have three more bits there.
  using Weight = std::conditional_t<Shape::kNarrow, __half, Q>;
  using Variant = typename Config::Variant;
  using QueryTile = Tile<Q, Shape::kColumns>;
  using KeyTile = Tile<KV, Shape::kKeyUnits>;
  using ValueTile = Tile<KV, Shape::kValueUnits>;
  using Lanes = DecodeLanes<Shape>;
  using Operand = uint32_t[Shape::kQueryWords];  // what a lane has of a product's queries

  static constexpr int kSteps = Shape::kColumns / device::kMmaK;
  static constexpr int kKeyGroups = Shape::kScores;
  static constexpr int kDimGroups = Shape::kSums;
  // Steps over keys that were rotated: what was copied beyond them was not.
  static constexpr int kRotatedSteps = Config::kRope ? Shape::kDim / device::kMmaK : kSteps;
  // Keys reach the product in 8 bits. Rotated keys do not: rotation converts them to Q.
  static constexpr bool kNarrowKeys = Shape::kNarrow && !Config::kRope;
  // Then a lane keeps its queries, where it has registers for them: a third of the instructions of
  // a product would load and move them.
  static constexpr bool kKeepsQueries =
      Shape::kFewRows || (kNarrowKeys && !Shape::kFp4 && !Shape::kLarge);
  // The base-2 logarithm of the largest weight. Why above 0 in fp16: small weights stay normal.
  static constexpr float kMostWeight = std::is_same_v<Weight, __half> ? 10.0f : 0.0f;

 public:
  struct Scores {
    float at[kKeyGroups][4];
  };

  __device__ DecodeWarp(const Problem<Config>& problem, const Item& item, int kv_head,
                        int first_value, QueryTile q)
      : problem_(problem),
        item_(item),
        kv_head_(kv_head),
        first_value_(first_value),
        lane_(static_cast<int>(threadIdx.x) % device::kWarpSize),
        rows_(problem.group.divisor() * item.q_len - item.row),
        q_(q) {
    if (rows_ > Shape::kRows) rows_ = Shape::kRows;
    scales_[0] = scales_[1] = problem.scale;
    const int lowest = row_of(problem, item.row, kv_head).query;
    const int highest = row_of(problem, item.row + rows_ - 1, kv_head).query;
    seen_by_all_ = {span_of(problem, item, highest).first, span_of(problem, item, lowest).last};
    if (seen_by_all_.last >= item.end) seen_by_all_.last = item.end - 1;
    if constexpr (kKeepsQueries) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) load_queries(step, kept_[step]);
    }
  }

  // Takes what scores of each row are to be multiplied with, beside the problem's scale.
  __device__ void scale_rows(const float* scales) {
#pragma unroll
    for (int half = 0; half < 2; ++half) scales_[half] *= scales[Lanes::row(lane_, half)];
  }

  // Multiplies the queries with 16-bit keys.
  __device__ Scores multiply(QueryTile k) const {
    const int lane_offset = QueryTile::offset(device::MmaB::row(lane_), device::MmaB::chunk(lane_));
    // Even and odd steps have separate sums. Why: a product waits for the one that it is added to.
    Scores halves[2] = {};
#pragma unroll
    for (int step = 0; step < kRotatedSteps; ++step) {
      Scores& scores = halves[step % 2];
      uint32_t a[4];
      queries(step, a);
#pragma unroll
      for (int n = 0; n < kKeyGroups; n += 2) {
        uint32_t b[4];
        device::ldmatrix_x4(b, place_in<Shape::kEven>(k, lane_offset, n * 8, step * 2));
        device::mma_m16n8k16<Q>(scores.at[n], a, b[0], b[1]);
        device::mma_m16n8k16<Q>(scores.at[n + 1], a, b[2], b[3]);
      }
    }
    return sum(halves);
  }

  // Multiplies the queries with 8-bit keys; a chunk has 16 elements, which is one step.
  template <typename Narrow>
  __device__ Scores multiply(Tile<Narrow, Shape::kColumns> k) const {
    const int lane_offset = KeyTile::offset(device::MmaB::row(lane_), device::MmaB::chunk(lane_));
    Scores halves[2] = {};
#pragma unroll
    for (int step = 0; step < kSteps; step += 2) {
      uint32_t a[2][4];
      queries(step, a[0]);
      queries(step + 1, a[1]);
#pragma unroll
      for (int n = 0; n < kKeyGroups; n += 2) {
        uint32_t fours[4];
        device::ldmatrix_x4(fours, place_in<Shape::kEven>(k, lane_offset, n * 8, step));
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const uint2 b = device::widened<Q, Narrow>(fours[i]);
          device::mma_m16n8k16<Q>(halves[i % 2].at[n + i / 2], a[i % 2], b.x, b.y);
        }
      }
    }
    return sum(halves);
  }

  // Multiplies the queries with keys of four bits.
  __device__ Scores multiply(Tile<Fp4x2, Shape::kKeyUnits> k, const char* scales) const {
    Scores halves[2] = {};
    const auto own = [&](int product, Operand& a) { queries(product, a); };
    add_fp4_scores<Shape>(own, k, scales, halves[0].at, halves[1].at, lane_);
    Scores scores = sum(halves);
    spoil_fp4_scores<Shape>(scores.at, scales, lane_);
    return scores;
  }

  // Turns the scores of the keys from position `first` on into weights, and scales the sums so far
  // to the new maximum.
  __device__ void soften(Scores& scores, int first) {
    Place places[2];
    if constexpr (Variant::kTransforms || Variant::kMasks) {
      places[0] = place(Lanes::row(lane_, 0));
      places[1] = place(Lanes::row(lane_, 1));
    }
    if constexpr (Variant::kTransforms) {
      each(scores, first, [&](float& score, int half, int key) {
        places[half].key = key;
        score = problem_.variant.transform(score * scales_[half], places[half]);
      });
    }
    const bool crosses = first < seen_by_all_.first || first + Shape::kKeys - 1 > seen_by_all_.last;
    if (Variant::kMasks || crosses) mask(scores, first, places);

    // Base-2 logits: their scale is above 0, so the largest score is that of the largest logit.
    float scales[2];
    float factors[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float most = -INFINITY;
#pragma unroll
      for (int n = 0; n < kKeyGroups; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (Lanes::half_of(i) == half) most = fmaxf(most, scores.at[n][i]);
        }
      }
      most = Lanes::of_row([](float a, float b) { return fmaxf(a, b); }, most);
      scales[half] = Variant::kTransforms ? kLog2E : scales_[half] * kLog2E;
      factors[half] = states_[half].raise(most * scales[half] - kMostWeight);
    }
    each(scores, first, [&](float& score, int half, int /*key*/) {
      score = device::fast_exp2(fmaf(score, scales[half], -states_[half].max));
      states_[half].sum += score;
    });
    if (!__any_sync(0xffffffff, factors[0] != 1.0f || factors[1] != 1.0f)) return;
#pragma unroll
    for (int d = 0; d < kDimGroups; ++d) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sums_[d][i] *= factors[Lanes::half_of(i)];
    }
  }

  // Adds the values, multiplied by their weights.
  __device__ void weigh(const Scores& weights, ValueTile v) {
    const int lane_offset = ValueTile::offset(device::MmaA::row(lane_), device::MmaA::chunk(lane_));
#pragma unroll
    for (int n = 0; n < kKeyGroups; n += 2) {
      const auto& low = weights.at[n];
      const auto& high = weights.at[n + 1];
      const uint32_t a[4] = {
          device::packed<Weight>(low[0], low[1]), device::packed<Weight>(low[2], low[3]),
          device::packed<Weight>(high[0], high[1]), device::packed<Weight>(high[2], high[3])};
      // Chunks of 8 elements are one group of dims each, those of 16 are two.
#pragma unroll
      for (int d = 0; d < kDimGroups; d += Shape::kNarrow ? 4 : 2) {
        uint32_t b[4];
        device::ldmatrix_x4_trans(
            b, place_in<Shape::kEven>(v, lane_offset, n * 8, d / (Shape::kNarrow ? 2 : 1)));
        if constexpr (Shape::kNarrow) {
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            const uint2 first = device::widened<Weight, KV>(even_then_odd(b[2 * i]));
            const uint2 second = device::widened<Weight, KV>(even_then_odd(b[2 * i + 1]));
            device::mma_m16n8k16<Weight>(sums_[d + 2 * i], a, first.x, second.x);
            device::mma_m16n8k16<Weight>(sums_[d + 2 * i + 1], a, first.y, second.y);
          }
        } else {
          device::mma_m16n8k16<Weight>(sums_[d], a, b[0], b[1]);
          device::mma_m16n8k16<Weight>(sums_[d + 1], a, b[2], b[3]);
        }
      }
    }
  }

  // Adds values of four bits.
  __device__ void weigh(const Scores& weights, ValueTile v, const char* scales) {
    add_fp4_values<Shape>(sums_, weights.at, v, scales, lane_);
  }

  // Adds up the sums of the warps, and gives them to `finish(row, dim, merged)`, four contiguous
  // elements at a time, once the whole block has called `ready()`. Called by the whole block when
  // it is done with its keys.
  template <typename Ready, typename Finish>
  __device__ void merge(float* shared, Ready ready, Finish finish) {
    float2* all_states = reinterpret_cast<float2*>(shared + Shape::kWarps * kWarpSums);
    const int warp = static_cast<int>(threadIdx.x) / device::kWarpSize;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = Lanes::row(lane_, half);
      // The lanes of a row have its maximum, and each a part of its sum.
      device::SoftmaxState& state = states_[half];
      state.sum = Lanes::of_row(device::Sum(), state.sum);
      if (row >= rows_) continue;
      all_states[warp * Shape::kRows + row] = {state.max, state.sum};
      Lanes::store(sums_, lane_, half, shared + warp * kWarpSums + row * Shape::kSumsPitch);
    }
    __syncthreads();
    ready();
    constexpr int kFours = Shape::kValues / MergedPart::kOf;
    for (int i = static_cast<int>(threadIdx.x); i < rows_ * kFours; i += Shape::kThreads) {
      const int row = i / kFours;
      const int dim = i % kFours * MergedPart::kOf;
      finish(row, first_value_ + dim, merged_four(shared, all_states, row, dim));
    }
  }

 private:
  static constexpr int kWarpSums = Shape::kRows * Shape::kSumsPitch;  // floats of a warp

  // Reorders two adjacent dims of each of two keys: the even dims of both come first, then the odd
  // ones.
  static __device__ uint32_t even_then_odd(uint32_t four) { return __byte_perm(four, 0, 0x3120); }

  // The queries of one step along the dims.
  __device__ void queries(int step, Operand& a) const {
    if constexpr (kKeepsQueries) {
#pragma unroll
      for (int i = 0; i < Shape::kQueryWords; ++i) a[i] = kept_[step][i];
    } else {
      load_queries(step, a);
    }
  }

  // Loads the queries of one step along the dims. For 8-bit keys they are in the order in which a
  // lane has four of the keys' elements: as two pairs.
  __device__ void load_queries(int step, Operand& a) const {
    if constexpr (Shape::kFp4) {
      Fp4Queries<Shape::kRows>(q_.shared + q_.start).load(step, lane_, a);
    } else if constexpr (kNarrowKeys) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const Q* four = q_.chunk(half * 8 + lane_ / 4, step * 2 + lane_ % 4 / 2) + lane_ % 2 * 4;
        // Why volatile: loaded at once, the pairs would be neighbors, and each product would move
        // them to where it takes them.
        const auto* pairs = reinterpret_cast<const volatile uint32_t*>(four);
        a[half] = pairs[0];
        a[half + 2] = pairs[1];
      }
    } else {
      device::ldmatrix_x4(
          a, q_.chunk(device::MmaA::row(lane_), step * 2 + device::MmaA::chunk(lane_)));
    }
  }

  __device__ Place place(int row) const { return place_of(problem_, item_, row, kv_head_); }

  static __device__ Scores sum(const Scores (&halves)[2]) {
    Scores scores;
#pragma unroll
    for (int n = 0; n < kKeyGroups; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) scores.at[n][i] = halves[0].at[n][i] + halves[1].at[n][i];
    }
    return scores;
  }

  // Runs `body(score, half, key)` for each score of this lane, the key by its position.
  template <typename Body>
  __device__ void each(Scores& scores, int first, Body body) const {
#pragma unroll
    for (int n = 0; n < kKeyGroups; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        body(scores.at[n][i], Lanes::half_of(i), first + Lanes::key(lane_, n, i));
      }
    }
  }

  __device__ void mask(Scores& scores, int first, Place (&places)[2]) const {
    Span spans[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = Lanes::row(lane_, half);
      spans[half] = span_of(problem_, item_, row_of(problem_, item_.row + row, kv_head_).query);
      if (spans[half].last >= item_.end) spans[half].last = item_.end - 1;
      // Rows beyond the last see no key, and the variant is not asked about them.
      if (row >= rows_) spans[half].last = -1;
    }
    each(scores, first, [&](float& score, int half, int key) {
      bool keeps = spans[half].holds(key);
      if constexpr (Variant::kMasks) {
        places[half].key = key;
        keeps = keeps && problem_.variant.keeps(places[half]);
      }
      if (!keeps) score = -INFINITY;
    });
  }

  // Four contiguous elements of a row, with the sums of all warps.
  static __device__ MergedPart merged_four(const float* shared, const float2* all_states, int row,
                                           int dim) {
    return MergedPart::of(
        Shape::kWarps, [&](int warp) { return all_states[warp * Shape::kRows + row]; },
        [&](int warp) {
          return *reinterpret_cast<const MergedPart::Sums*>(shared + warp * kWarpSums +
                                                            row * Shape::kSumsPitch + dim);
        });
  }

  const Problem<Config>& problem_;
  const Item& item_;
  int kv_head_;
  int first_value_;
  int lane_;
  int rows_;          // of the tile that are the request's
  Span seen_by_all_;  // the keys of the item that no row of the tile is to have masked
  QueryTile q_;
  float sums_[kDimGroups][4] = {};
  device::SoftmaxState states_[2];
  float scales_[2];  // of the scores of this lane's rows
  Operand kept_[kKeepsQueries ? kSteps : 1];
};

// Asks for a block's share of the pages of all, since it does not know its own yet, ahead of the
// kernels before this one.
template <typename Config>
__device__ void ask_ahead_for_pages(const Problem<Config>& problem) {
  using Keys = typename Config::Keys;
  if constexpr (std::is_same_v<Keys, PagedKeys<typename Keys::Element>> || kIsFp4<Keys>) {
    constexpr int kEntries = device::kLineBytes / static_cast<int>(sizeof(int32_t));
    const int64_t first = (int64_t{threadIdx.x} * gridDim.x + blockIdx.x) * kEntries;
    if (first < problem.keys.page_count) device::prefetch_line(problem.keys.pages + first);
  }
}

// The same of all that the first keys wait for: a block's own item, and the pages.
template <typename Config>
__device__ void ask_ahead(const Problem<Config>& problem, int block) {
  if (threadIdx.x == 0) {
    constexpr bool kNamesHead = Config::Keys::kItemNamesHead;
    device::prefetch_line(&problem.items[kNamesHead ? block : block / problem.kv_heads]);
  }
  ask_ahead_for_pages(problem);
}

// Attention of one item for one head of the keys, by a whole block; before it does another, there
// is to be a barrier. The values are those from `first_value` on; for the others see
// DecodeWarp::merge().
template <typename Config, typename Ready, typename Finish>
__device__ __forceinline__ void decode_item(const Problem<Config>& problem, const Item& item,
                                            int kv_head, int first_value, char* shared, Ready ready,
                                            Finish finish) {
  using Shape = DecodeShape<Config>;
  using Q = typename Shape::Q;
  using Stages = DecodeStages<Config>;
  using QueryTile = Tile<Q, Shape::kColumns>;
  constexpr int kStages = Shape::kStages;

  const auto part = [&](const char* name, int start, int bytes) {
    return device::shared_part(shared, name, start, bytes);
  };
  // Why found before anything else: the first keys wait for their pages.
  const Stages stages(problem, item, kv_head, first_value, shared);
  typename Stages::Found found[kStages];
#pragma unroll
  for (int i = 0; i < kStages; ++i) stages.find(i, found[i]);
  const QueryTile q{shared, part("queries", Shape::kQueriesAt, Shape::kQueryBytes)};
  [[maybe_unused]] auto* row_scales = reinterpret_cast<float*>(
      shared + part("scales of rows", Shape::kRowScalesAt, Shape::kRowScalesBytes));
  // Why before the keys: what is asked for later comes later, and the first product waits for it.
  [[maybe_unused]] std::conditional_t<
      Shape::kScalesRows, ScaledQueries<Shape::kThreads, Shape::kColumns, Config>, int> scaled;
  if constexpr (Shape::kScalesRows) {
    scaled.load(problem, item, kv_head);
  } else {
    copy_queries<Shape::kThreads>(q, problem, item, kv_head);
  }
  device::copy_commit();
#pragma unroll
  for (int i = 0; i < kStages; ++i) {
    stages.copy_keys(i, i, found[i]);
    stages.copy_values(i, i, found[i]);
  }
  if constexpr (Shape::kScalesRows) {
    scaled.give(row_scales, [&](int row, int eight, const float (&x)[8]) {
      if constexpr (Shape::kFp4) {
        Fp4Queries<Shape::kRows>(q.shared + q.start).store(row, eight, x);
      } else {
        *reinterpret_cast<device::Vec<__half, 8>*>(q.chunk(row, eight)) =
            device::from_float<__half>(x);
      }
    });
  }

  double* turns =
      reinterpret_cast<double*>(shared + part("turns", Shape::kTurnsAt, Shape::kTurnsBytes));
  if constexpr (Config::kRope) {
    for (int i = static_cast<int>(threadIdx.x); i < Shape::kDim / 2; i += Shape::kThreads) {
      turns[i] = problem.frequencies.turns(i);
    }
  }
  device::copy_wait<2 * kStages>();  // for the queries
  __syncthreads();
  if constexpr (Config::kRope) {
    rotate_queries<Shape::kThreads>(q, problem, item, kv_head, turns);
    __syncthreads();
  }
  DecodeWarp<Config> warp(problem, item, kv_head, first_value, q);
  if constexpr (Shape::kScalesRows) warp.scale_rows(row_scales);
  typename Stages::Found next;
  stages.find(kStages, next);
  for (int tile = 0, stage = 0; stages.has(tile); ++tile) {
    const int first = stages.first(tile);
    device::copy_wait<2 * kStages - 1>();
    __syncwarp();
    auto scores = [&] {
      if constexpr (Config::kRope) {
        const auto position = [&](int row) { return first + row; };
        const int lane = static_cast<int>(threadIdx.x) % device::kWarpSize;
        const QueryTile rotated = [&] {
          if constexpr (Shape::kRotatesApart) {
            const int own = static_cast<int>(threadIdx.x) / device::kWarpSize;
            constexpr int kBytes = Shape::kKeys * QueryTile::kRowBytes;
            return QueryTile{shared,
                             part("rotated keys", Shape::kRotatedAt + own * kBytes, kBytes)};
          } else {
            return stages.keys(stage);
          }
        }();
        rotate_rows<Shape::kKeys, device::kWarpSize, Shape::kDim>(stages.keys(stage), rotated,
                                                                  turns, position, lane);
        __syncwarp();
        return warp.multiply(rotated);
      } else if constexpr (Shape::kFp4) {
        return warp.multiply(stages.keys(stage), stages.key_scales(stage));
      } else {
        return warp.multiply(stages.keys(stage));
      }
    }();
    __syncwarp();
    stages.copy_keys(tile + kStages, stage, next);
    warp.soften(scores, first);
    device::copy_wait<2 * kStages - 1>();
    __syncwarp();
    if constexpr (Shape::kFp4) {
      warp.weigh(scores, stages.values(stage), stages.value_scales(stage));
    } else {
      warp.weigh(scores, stages.values(stage));
    }
    __syncwarp();
    stages.copy_values(tile + kStages, stage, next);
    stages.find(tile + kStages + 1, next);
    stage = stage == kStages - 1 ? 0 : stage + 1;
  }
  device::copy_wait<0>();
  __syncthreads();
  warp.merge(reinterpret_cast<float*>(shared + part("sums", 0, Shape::kSumsBytes)), ready, finish);
}

// Blocks are of all heads of the keys for one item after another.
template <typename Config>
__global__ void __launch_bounds__(DecodeShape<Config>::kThreads, DecodeShape<Config>::kBlocks)
    DecodeKernel(const __grid_constant__ Problem<Config> problem) {
  using Shape = DecodeShape<Config>;
  extern __shared__ __align__(128) char shared[];

  const int block = static_cast<int>(blockIdx.x / Shape::kParts);
  ask_ahead(problem, block);
  device::pdl_wait();
  device::pdl_trigger();
  const int first_value = static_cast<int>(blockIdx.x % Shape::kParts) * Shape::kPartStep;
  const Share share = share_of(problem, block);
  const Item item = problem.items[share.item];
  if (item.request < 0) return;
  const auto finish = [&](int row, int dim, const MergedPart& merged) {
    store_merged(problem, item, share.kv_head, row, dim, merged);
  };
  decode_item(problem, item, share.kv_head, first_value, shared, [] {}, finish);
}

// For any items of 16 rows or of 8; parts of split ones are for MergeParts to merge.
template <typename Config>
cudaError_t Decode(const Problem<Config>& problem, cudaStream_t stream = nullptr,
                   bool pdl = false) {
  using Shape = DecodeShape<Config>;
  static_assert(Config::kRows == Shape::kRows, "prefill.cuh is for taller tiles");
  if (problem.item_count == 0 || problem.kv_heads == 0) return cudaSuccess;
  device::LaunchConfig config;
  config.grid = dim3(blocks_of(problem) * Shape::kParts);
  config.block = dim3(Shape::kThreads);
  config.stream = stream;
  config.shared_bytes = Shape::kSharedBytes;
  config.pdl = pdl;
  return device::launch<DecodeKernel<Config>>(config, problem);
}

}  // namespace fictl::attention
