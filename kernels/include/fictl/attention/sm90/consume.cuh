// A consumer warpgroup of prefill: 64 rows of a tile.
//
//   S = Q K(last)                          wait; mask; softmax; P
//   each stage before:
//     my turn:  S = Q K(j);  O *= factors;  O += P V(j + 1);  hand the turn over
//     wait for S; mask; softmax            products with the values run, and those of others
//     wait for O; P = S
//   O *= factors;  O += P V(first)         wait; store
//
// Stages are from the last to the first: the borders of causality and of lengths come first.
#pragma once

#include <type_traits>

#include <fictl/attention/epilogue.cuh>
#include <fictl/attention/sm90/mask.cuh>
#include <fictl/attention/sm90/products.cuh>
#include <fictl/attention/sm90/softmax.cuh>
#include <fictl/attention/sm90/store.cuh>
#include <fictl/attention/sm90/tile.cuh>
#include <fictl/device/hopper/named_barrier.cuh>
#include <fictl/device/hopper/proxy.cuh>
#include <fictl/device/hopper/wgmma.cuh>
#include <fictl/device/launch.cuh>

namespace fictl::attention::sm90 {

// Turns of the warpgroups at issuing products. The last one gives the first its first turn.
template <typename Tile>
class Turns {
  static constexpr int kBoth = 2 * device::kWarpgroup;

 public:
  __device__ explicit Turns(int warpgroup)
      : is_first_(warpgroup == 0),
        mine_{kTurnBarrier + warpgroup, kBoth},
        next_{kTurnBarrier + (warpgroup + 1) % Tile::kConsumers, kBoth} {
    if (Tile::kPingPong && warpgroup == Tile::kConsumers - 1) next_.arrive();
  }
  __device__ void wait() const {
    if constexpr (Tile::kPingPong) mine_.sync();
  }
  __device__ void hand_over() const {
    if constexpr (Tile::kPingPong) next_.arrive();
  }
  // Takes the turn that the last one has handed over.
  __device__ void finish() const {
    if (Tile::kPingPong && is_first_) mine_.sync();
  }

 private:
  bool is_first_;
  device::NamedBarrier mine_;
  device::NamedBarrier next_;
};

template <typename Tile, typename Config>
class Consumer {
 public:
  __device__ Consumer(Shared<Tile>& shared, const Problem<Config>& problem, const Loads& loads,
                      int warpgroup)
      : shared_(shared),
        problem_(problem),
        loads_(loads),
        rows_{warpgroup * device::kWgmmaM},
        q_(device::k_major_tile<Tile::kSwizzle>(shared.queries + rows_.first * Tile::kRow)),
        k_(device::descriptor::make(shared.keys[0], Tile::kSwizzle, 0,
                                    Tile::KeyLayout::kGroupBytes)),
        v_(Products<Tile>::values_at(shared.values[0])),
        turns_(warpgroup) {}

  __device__ __forceinline__ void run() {
    device::RingPosition<2> work_at;
    for (;; work_at.advance()) {
      shared_.work_ring.wait_full(work_at);
      const Work& work = shared_.works[work_at.stage];
      if (work.kv_head < 0) break;
      attend(work);
      __syncwarp();
      if (leads()) shared_.work_ring.release(work_at);
    }
    turns_.finish();
  }

 private:
  using Ring = device::Ring<Tile::kStages>;
  using Position = device::RingPosition<Tile::kStages>;

  __device__ bool leads() const { return threadIdx.x % 32 == 0; }

  // Waits. The fence, unless the loader has one, is for what cp.async writes by the ordinary proxy,
  // and wgmma reads by the other.
  __device__ __forceinline__ void wait_for_keys() {
    shared_.key_ring.wait_full(key_at_);
    if constexpr (Tile::kGathers && !Tile::kWidens && !Tile::kTransposesBoxes) {
      device::fence_async_shared();
    }
  }
  __device__ __forceinline__ void wait_for_values() {
    shared_.value_ring.wait_full(value_at_);
    if constexpr (Tile::kGathers && !Tile::kWidens && !Tile::kFp8) device::fence_async_shared();
  }

  __device__ __forceinline__ void release(Ring& ring, Position& at) {
    if (leads()) ring.release(at);
    at.advance();
  }

  __device__ __forceinline__ void attend(const Work& work) {
    const Stages stages = Stages::of<Tile>(work.item, loads_);
    Products<Tile> products;
    RowSoftmax softmax;
    products.clear();
    find_row_scales(work);
    // Without keys, too: outputs may take the queries' place.
    shared_.query_ring.wait_full(query_at_);
    if (stages.count > 0) multiply(products, softmax, work, stages);
    if constexpr (Tile::kOutsApart) release_queries();
    TileStore<Tile, Config>(shared_, problem_, work, rows_, loads_.tile_rows)
        .store(products.sums, softmax);
    if constexpr (!Tile::kOutsApart) {
      // The copy engine writes the queries where these threads have written and read outputs.
      device::fence_async_shared();
      release_queries();
    }
  }

  __device__ __forceinline__ void release_queries() {
    __syncwarp();
    if (leads()) shared_.query_ring.release(query_at_);
    query_at_.advance();
  }

  __device__ __forceinline__ void multiply(Products<Tile>& products, RowSoftmax& softmax,
                                           const Work& work, Stages stages) {
    Span plain = seen_by_all(problem_, work.item, rows_.first);
    // Why: all threads have the same, which uniform registers can hold.
    plain.first = __shfl_sync(~0u, plain.first, 0);
    Factors factors;
    MaskWords<Tile::kKeys, Config> words;
    const auto weigh = [&](int stage) {
      const int first = stages.first<Tile>(stage);
      const bool masks = first < plain.first || first + Tile::kKeys - 1 > plain.last;
      soften(products.scores, softmax, factors, words, work, first, masks);
    };

    const auto load_words = [&](int stage) {
      words.load(problem_, work, rows_, stages.first<Tile>(stage));
    };

    load_words(stages.count - 1);
    words.advance();
    wait_for_keys();
    turns_.wait();
    products.pin_scores();
    device::wgmma_begin();
    products.issue_scores(q_, k_.advance(key_at_.stage * Tile::kKeyBytes));
    turns_.hand_over();
    load_words(stages.count - 2);
    device::wgmma_wait<0>();
    products.pin_scores();
    release(shared_.key_ring, key_at_);
    weigh(stages.count - 1);
    words.advance();
    products.pack();
    factors[0] = factors[1] = 1.0f;  // nothing has been summed up
    clear_values(work.item, stages);

    if (stages.count > 1) wait_for_keys();
    for (int stage = stages.count - 2; stage >= 0; --stage) {
      turns_.wait();
      products.pin_scores();
      products.pin_sums();
      device::wgmma_begin();
      products.issue_scores(q_, k_.advance(key_at_.stage * Tile::kKeyBytes));
      // Why here: it lies under the scores.
      products.rescale(factors);
      products.pin_sums();
      wait_for_values();
      device::wgmma_begin();
      products.issue_sums(v_.advance(value_at_.stage * Tile::kValueBytes));
      turns_.hand_over();
      load_words(stage - 1);
      device::wgmma_wait<1>();
      products.pin_scores();
      release(shared_.key_ring, key_at_);
      weigh(stage);
      words.advance();
      // Why here: without a loop in between, ptxas moves the wait before the softmax, which then
      // has no product to lie under.
      products.pin_scores();
      softmax.pin();
      if (stage > 0) wait_for_keys();
      device::wgmma_wait<0>();
      products.pin_sums();
      release(shared_.value_ring, value_at_);
      products.settle();
      products.pack();
    }

    products.rescale(factors);
    wait_for_values();
    products.pin_sums();
    device::wgmma_begin();
    products.issue_sums(v_.advance(value_at_.stage * Tile::kValueBytes));
    device::wgmma_wait<0>();
    products.pin_sums();
    release(shared_.value_ring, value_at_);
    products.settle();
  }

  // Makes weights of scores. `masks`: some row of the warpgroup does not see all of these keys.
  __device__ __forceinline__ void soften(float (&scores)[Tile::kKeys / 2], RowSoftmax& softmax,
                                         Factors& factors,
                                         const MaskWords<Tile::kKeys, Config>& words,
                                         const Work& work, int first, bool masks) {
    using Variant = typename Config::Variant;
    constexpr bool kTransforms = Variant::kTransforms && !scales_rows<Variant>;
    const auto mask = [&] {
      if (masks) mask_borders(scores, problem_, work, rows_, first);
      words.mask(scores, rows_);
      if constexpr (masks_singly<Variant>) mask_singly(scores, problem_, work, rows_, first);
    };
    if constexpr (caps_alone<Variant>) {
      soften_capped(scores, softmax, factors, masks, mask);
      return;
    }
    if constexpr (kTransforms) transform(scores, problem_, work, rows_, first);
    mask();
    if constexpr (scales_rows<Variant>) {
      softmax.template weigh<Products<Tile>::kWeightBits>(scores, row_scales_, factors);
    } else {
      const float scale = kTransforms ? 1.0f : problem_.scale * kLog2E;
      softmax.template weigh<Products<Tile>::kWeightBits>(scores, {scale, scale}, factors);
    }
  }

  // The same where a soft cap is all that changes logits. Where bf16 holds the weights of all that
  // it leaves, no maximum is looked for: what makes a score and its exponential then run side by
  // side.
  template <typename Mask>
  __device__ __forceinline__ void soften_capped(float (&scores)[Tile::kKeys / 2],
                                                RowSoftmax& softmax, Factors& factors, bool masks,
                                                Mask mask) {
    using Variant = typename Config::Variant;
    const float scale = problem_.scale * problem_.variant.inverse;
    const float bound = problem_.variant.cap * kLog2E;
    const auto bend = [&](float score) { return device::approximate_tanh(score * scale); };
    const bool is_bounded = std::is_same_v<typename Tile::Q, __nv_bfloat16> && bound <= kBound;
    if (is_bounded && !masks && !Variant::kMasks) {
      softmax.template weigh_bounded<false>(scores, bound, factors, bend);
      return;
    }
#pragma unroll
    for (float& score : scores) score = bend(score);
    mask();
    if (is_bounded) {
      softmax.template weigh_bounded<true>(scores, bound, factors, [](float bent) { return bent; });
    } else {
      softmax.template weigh<Products<Tile>::kWeightBits>(scores, {bound, bound}, factors);
    }
  }

  // Finds the factors that make base-2 logits of this thread's rows, where they are not one number.
  __device__ void find_row_scales(const Work& work) {
    if constexpr (scales_rows<typename Config::Variant>) {
      const HeadScales& scales = problem_.variant;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const Place at = place_of(problem_, work.item, rows_.row(half), work.kv_head);
        row_scales_[half] = scales.transform(problem_.scale * kLog2E, at);
      }
    }
  }

  // Makes values behind the request's last key zero: their weights are 0, but they may be NaN.
  // Those behind the item's are its own: a causal tile mostly ends within a stage, and has none to
  // clear.
  __device__ __forceinline__ void clear_values(const Item& item, Stages stages) {
    if constexpr (Tile::kGathers) return;  // The loader has.
    const int first = stages.first<Tile>(stages.count - 1);
    if (first + Tile::kKeys <= item.kv_len) return;
    wait_for_values();
    unsigned char* values = shared_.values[value_at_.stage];
    constexpr int kChunks = Tile::kValueDim / kPanel * 8;
    constexpr int kConsumerThreads = Tile::kConsumers * device::kWarpgroup;
    const int thread = rows_.first / device::kWgmmaM * device::kWarpgroup + rows_.thread();
    for (int i = (item.kv_len - first) * kChunks + thread; i < Tile::kKeys * kChunks;
         i += kConsumerThreads) {
      const int row = i / kChunks, chunk = i % kChunks;
      unsigned char* to = values + Tile::ValueLayout::offset(row, chunk / 8) + chunk % 8 * 16;
      *reinterpret_cast<uint4*>(to) = uint4{};
    }
    device::fence_async_shared();
    device::NamedBarrier{kValuesBarrier, kConsumerThreads}.sync();
  }

  Shared<Tile>& shared_;
  const Problem<Config>& problem_;
  const Loads& loads_;
  ThreadRows rows_;
  device::TileDescriptor q_;
  device::TileDescriptor k_;
  device::TileDescriptor v_;
  Turns<Tile> turns_;
  float row_scales_[2] = {1.0f, 1.0f};
  device::RingPosition<1> query_at_;
  Position key_at_;
  Position value_at_;
};

}  // namespace fictl::attention::sm90
