// Attention of one query per request for small groups, on CUDA cores, for GPUs from sm_75 on.
//
// Algorithm: a warp takes one batch of keys at a time, and several lanes share a key, 16 bytes
// each. A lane multiplies its part of every key of the batch. The sums over the lanes of a key are
// then taken for the whole batch together. Each fold halves the values that a lane keeps. At the
// end a lane has the score of one key, and computes one power of two. The weights go back to the
// lanes of their key by shuffles, and multiply the values. A warp has one online softmax. The
// warps' sums meet in shared memory at the end.
//
// Traffic: every key and value is read once for all query heads of its group. It goes straight into
// registers, as no other thread uses it. The limit is the memory's bandwidth.
//
// Tiling: a batch is 8 loads of 16 bytes a lane, fewer for more heads. With 128 dims of 16 bits
// that is 16 keys a warp. The next batch's keys are loaded as soon as this batch's have been
// multiplied; values likewise. So 4 to 8 KiB a warp are in flight, with 12 warps some 72 KiB an SM.
// Page indices are loaded one more batch ahead, one key a lane. A key has a power of two of lanes;
// where the elements of a head are fewer, the last ones have zeros.
//
// Registers, a thread: 32 for keys, 32 for values, and for every head of the group 8 for its query
// and 8 for its sum (twice that with 8-bit keys). An SM has 3 blocks of 4 warps, or 2 where a lane
// holds more. Shared memory: the warps' sums, 2 KiB a head of 128 dims.
//
// Rotation: the query is rotated, by its distance from each key. The product is the same, and a
// lane needs nothing of the half of the key that another lane has.
//
// Why it is there: for GPUs whose tensor cores have no bf16 products of this shape. On an H200, 16
// requests of 2048 keys of 32 heads take 142 us. They take 125 us in decode.cuh, whose copies to
// shared memory need no registers while in flight.
#pragma once

#include <fictl/attention/head_shape.cuh>
#include <fictl/attention/merged_part.cuh>
#include <fictl/attention/problem.cuh>
#include <fictl/attention/variant.cuh>
#include <fictl/device/convert.cuh>
#include <fictl/device/element_fp8.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/softmax.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::attention {

// The least power of two that is not below a number.
constexpr int power_from(int number) {
  int power = 1;
  while (power < number) power *= 2;
  return power;
}

template <typename Config>
struct DecodeFmaShape {
  using KV = typename Config::Keys::Element;

  static constexpr int kGroup = Config::kRows;
  static constexpr int kDim = Config::kHeadDim;
  static constexpr int kValueDim = kValueDimOf<Config>;
  static constexpr int kMost = kDim > kValueDim ? kDim : kValueDim;
  static constexpr int kOf = device::kVecBytes / static_cast<int>(sizeof(KV));  // of a lane
  static_assert(kDim % kOf == 0 && kValueDim % kOf == 0, "lanes have whole chunks");
  static constexpr int kLanes = power_from(kMost / kOf);  // of a key
  static_assert(kLanes <= device::kWarpSize, "a warp has lanes for a whole key");
  static constexpr int kKeysALoad = device::kWarpSize / kLanes;
  // Elements of the queries that a lane holds, and as many of the sums; the loads get the rest.
  static constexpr int kHeld = kGroup * kOf * (Config::kRope ? 2 : 1);
  static constexpr int kLoads = kHeld <= 16 ? 8 : kHeld <= 64 ? 4 : 2;
  static constexpr int kKeys = kLoads * kKeysALoad;  // of a warp's batch
  static constexpr int kWarps = 4;
  static constexpr int kThreads = kWarps * device::kWarpSize;
  // Scores that a lane has in the end, and lanes that have the same.
  static constexpr int kScores = kLoads > kLanes ? kLoads / kLanes : 1;
  static constexpr int kSame = kLanes > kLoads ? kLanes / kLoads : 1;

  static constexpr int kBlocks = kHeld <= 32 && !Config::kRope ? 3 : 2;  // on an SM
  static_assert(kGroup >= 1 && kGroup <= 4, "tensor cores are for larger groups");
};

template <typename Config>
class DecodeFmaWarp {
  using Shape = DecodeFmaShape<Config>;
  using KV = typename Shape::KV;
  using Keys = typename Config::Keys;
  using Variant = typename Config::Variant;
  using Vec = device::Vec<KV, Shape::kOf>;

  static constexpr int kGroup = Shape::kGroup;
  static constexpr int kOf = Shape::kOf;
  static constexpr int kLanes = Shape::kLanes;

 public:
  // The places of a batch's keys: one or a few for each lane.
  struct Found {
    typename Keys::At at[(Shape::kKeys + device::kWarpSize - 1) / device::kWarpSize];
  };

  __device__ DecodeFmaWarp(const Problem<Config>& problem, const Item& item, int kv_head)
      : problem_(problem),
        item_(item),
        kv_head_(kv_head),
        lane_(static_cast<int>(threadIdx.x) % device::kWarpSize),
        warp_(static_cast<int>(threadIdx.x) / device::kWarpSize) {}

  __device__ int first(int batch) const {
    return item_.begin + (batch * Shape::kWarps + warp_) * Shape::kKeys;
  }
  __device__ bool has(int batch) const { return first(batch) < item_.end; }

  __device__ void find(int batch, Found& found) const {
    if (!has(batch)) return;
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(found.at) / sizeof(found.at[0])); ++i) {
      const int position = first(batch) + (i * device::kWarpSize + lane_) % Shape::kKeys;
      const int last = item_.end - 1;
      found.at[i] = problem_.keys.find(item_.kv_start, position < last ? position : last);
    }
  }

  __device__ void load_queries() {
#pragma unroll
    for (int g = 0; g < kGroup; ++g) {
      load_query(g, dim(), queries_[g]);
      if constexpr (Config::kRope) {
        static_assert(Shape::kDim % (2 * kOf) == 0, "a lane has elements of one half");
        const bool low = dim() < Shape::kDim / 2;
        load_query(g, dim() + (low ? Shape::kDim / 2 : -Shape::kDim / 2), partners_[g]);
#pragma unroll
        for (int i = 0; i < kOf; ++i) {
          if (low) partners_[g][i] = -partners_[g][i];
        }
      }
    }
    if constexpr (Config::kRope) {
#pragma unroll
      for (int i = 0; i < kOf; ++i) {
        turns_[i] = problem_.frequencies.turns(dim() % (Shape::kDim / 2) + i);
      }
    }
  }

  __device__ void load_keys(int batch, const Found& found) {
    if (!has(batch)) return;
    load<Shape::kDim>(keys_, found, [&](auto at) { return problem_.keys.key(at, kv_head_); });
  }
  __device__ void load_values(int batch, const Found& found) {
    if (!has(batch)) return;
    load<Shape::kValueDim>(values_, found,
                           [&](auto at) { return problem_.keys.value(at, kv_head_); });
  }

  // Multiplies the keys that have arrived, which frees their registers.
  __device__ void multiply(int batch) {
#pragma unroll
    for (int i = 0; i < Shape::kLoads; ++i) {
      device::keep_packed(keys_[i]);
      float key[kOf];
      device::to_float(keys_[i], key);
      [[maybe_unused]] float cos[kOf], sin[kOf];
      if constexpr (Config::kRope) {
        // Rotates the query by its distance from the key: the product is the same.
        const int distance = item_.kv_len - item_.q_len - position(batch, i);
#pragma unroll
        for (int j = 0; j < kOf; ++j) {
          const float2 angle = rope::Frequencies::at(distance, turns_[j]);
          cos[j] = angle.x;
          sin[j] = angle.y;
        }
      }
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        float sum = 0.0f;
#pragma unroll
        for (int j = 0; j < kOf; ++j) {
          float query = queries_[g][j];
          if constexpr (Config::kRope) query = query * cos[j] + partners_[g][j] * sin[j];
          sum += query * key[j];
        }
        scores_[g][i] = sum;
      }
    }
  }

  // Turns scores into weights. A lane has the weights of its own keys.
  __device__ void soften(int batch) {
#pragma unroll
    for (int g = 0; g < kGroup; ++g) {
      fold<Shape::kLoads, kLanes / 2>(scores_[g]);
      float most = -INFINITY;
#pragma unroll
      for (int i = 0; i < Shape::kScores; ++i) {
        float& score = scores_[g][i];
        score = logit(score, g, position(batch, lane_ % kLanes * Shape::kLoads / kLanes + i));
        most = fmaxf(most, score);
      }
#pragma unroll
      for (int other = Shape::kSame; other < device::kWarpSize; other *= 2) {
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, other));
      }
      const float factor = states_[g].raise(most);
#pragma unroll
      for (int i = 0; i < Shape::kScores; ++i) {
        scores_[g][i] = states_[g].weight(scores_[g][i]);
        states_[g].sum += scores_[g][i];
      }
      if (factor == 1.0f) continue;
#pragma unroll
      for (int j = 0; j < kOf; ++j) sums_[g][j] *= factor;
    }
  }

  __device__ void weigh() {
#pragma unroll
    for (int i = 0; i < Shape::kLoads; ++i) {
      device::keep_packed(values_[i]);
      float value[kOf];
      device::to_float(values_[i], value);
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        const int from = lane_ / kLanes * kLanes + i * kLanes / Shape::kLoads;
        const float weight = __shfl_sync(0xffffffff, scores_[g][i % Shape::kScores], from);
#pragma unroll
        for (int j = 0; j < kOf; ++j) sums_[g][j] += weight * value[j];
      }
    }
  }

  // Puts the warp's sums into shared memory, for the block to add up.
  __device__ void put(float* sums, float2* states) {
#pragma unroll
    for (int g = 0; g < kGroup; ++g) {
#pragma unroll
      for (int other = kLanes; other < device::kWarpSize; other *= 2) {
#pragma unroll
        for (int j = 0; j < kOf; ++j) {
          sums_[g][j] += __shfl_xor_sync(0xffffffff, sums_[g][j], other);
        }
      }
      float sum = states_[g].sum;
#pragma unroll
      for (int other = Shape::kSame; other < device::kWarpSize; other *= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, other);
      }
      const int row = warp_ * kGroup + g;
      if (lane_ == 0) states[row] = {states_[g].max, sum};
      if (lane_ >= kLanes || !has_elements<Shape::kValueDim>()) continue;
#pragma unroll
      for (int j = 0; j < kOf; j += MergedPart::kOf) {
        *reinterpret_cast<float4*>(sums + row * Shape::kValueDim + dim() + j) = {
            sums_[g][j], sums_[g][j + 1], sums_[g][j + 2], sums_[g][j + 3]};
      }
    }
  }

 private:
  __device__ int dim() const { return lane_ % kLanes * kOf; }

  // Tells whether a row of kElements has any for this lane.
  template <int kElements>
  __device__ bool has_elements() const {
    return kElements == kLanes * kOf || dim() < kElements;
  }

  // The position of the key that this lane has in a load.
  __device__ int position(int batch, int load) const {
    return first(batch) + load * Shape::kKeysALoad + lane_ / kLanes;
  }

  __device__ void load_query(int g, int from, float (&to)[kOf]) const {
    using Q = typename Config::Q;
    constexpr int kOfVec = device::kVecBytes / static_cast<int>(sizeof(Q));
    const Q* row = problem_.q.row(item_.q_start, kv_head_ * kGroup + g) + from;
#pragma unroll
    for (int i = 0; i < kOf; ++i) to[i] = 0.0f;
    if (!has_elements<Shape::kDim>()) return;
#pragma unroll
    for (int i = 0; i < kOf; i += kOfVec) {
      device::to_float(device::load_l2<kOfVec>(row + i),
                       *reinterpret_cast<float (*)[kOfVec]>(&to[i]));
    }
  }

  // Keys that are not there are the last one again, whose weight will be 0. Lanes beyond the
  // kElements of a row have zeros.
  template <int kElements, typename RowOf>
  __device__ void load(Vec (&to)[Shape::kLoads], const Found& found, RowOf row_of) {
#pragma unroll
    for (int i = 0; i < Shape::kLoads; ++i) {
      const int key = i * Shape::kKeysALoad + lane_ / kLanes;
      const KV* own = row_of(found.at[i * Shape::kKeysALoad / device::kWarpSize]);
      const auto row = reinterpret_cast<const KV*>(__shfl_sync(
          0xffffffff, reinterpret_cast<unsigned long long>(own), key % device::kWarpSize));
      to[i] = has_elements<kElements>() ? device::load_l2<kOf>(row + dim()) : Vec{};
    }
  }

  // Adds up kValues values over the lanes of a key. Where two lanes meet, each keeps one half of
  // the values: those of a lane are in the end the ones that its number among the lanes says.
  template <int kValues, int kOther>
  __device__ void fold(float (&values)[Shape::kLoads]) const {
    if constexpr (kOther > 0 && kValues > 1) {
      const bool upper = lane_ & kOther;
#pragma unroll
      for (int i = 0; i < kValues / 2; ++i) {
        const float given = upper ? values[i] : values[i + kValues / 2];
        const float kept = upper ? values[i + kValues / 2] : values[i];
        values[i] = kept + __shfl_xor_sync(0xffffffff, given, kOther);
      }
      fold<kValues / 2, kOther / 2>(values);
    } else if constexpr (kOther > 0) {
      values[0] += __shfl_xor_sync(0xffffffff, values[0], kOther);
      fold<1, kOther / 2>(values);
    }
  }

  // Base-2, -inf where the key is not seen.
  __device__ float logit(float score, int g, int key) const {
    if (key >= item_.end || !span_of(problem_, item_, 0).holds(key)) return -INFINITY;
    score *= problem_.scale;
    const Place at{item_.request,         0,          key,
                   kv_head_ * kGroup + g, kv_head_,   item_.q_len,
                   item_.kv_len,          item_.mask, item_.q_start};
    if constexpr (Variant::kTransforms) score = problem_.variant.transform(score, at);
    if constexpr (Variant::kMasks) {
      if (!problem_.variant.keeps(at)) return -INFINITY;
    }
    return score * kLog2E;
  }

  const Problem<Config>& problem_;
  const Item& item_;
  int kv_head_;
  int lane_;
  int warp_;
  Vec keys_[Shape::kLoads];
  Vec values_[Shape::kLoads];
  float queries_[kGroup][kOf];
  float partners_[Config::kRope ? kGroup : 1][kOf];  // what the rotation mixes a query with
  double turns_[Config::kRope ? kOf : 1];
  float scores_[kGroup][Shape::kLoads];
  float sums_[kGroup][kOf] = {};
  device::SoftmaxState states_[kGroup];
};

// Blocks are of all heads of the keys for one item after another.
template <typename Config>
__global__ void __launch_bounds__(DecodeFmaShape<Config>::kThreads, DecodeFmaShape<Config>::kBlocks)
    DecodeFmaKernel(const __grid_constant__ Problem<Config> problem) {
  using Shape = DecodeFmaShape<Config>;
  using Warp = DecodeFmaWarp<Config>;
  __shared__ __align__(
      device::kVecBytes) float sums[Shape::kWarps * Shape::kGroup * Shape::kValueDim];
  __shared__ float2 states[Shape::kWarps * Shape::kGroup];

  device::pdl_wait();
  device::pdl_trigger();
  const int kv_head = static_cast<int>(blockIdx.x) % problem.kv_heads;
  const Item item = problem.items[static_cast<int>(blockIdx.x) / problem.kv_heads];
  if (item.request < 0) return;

  Warp warp(problem, item, kv_head);
  typename Warp::Found found, next;
  warp.find(0, found);
  warp.find(1, next);
  warp.load_keys(0, found);
  warp.load_values(0, found);
  warp.load_queries();
  for (int batch = 0; warp.has(batch); ++batch) {
    warp.multiply(batch);
    warp.load_keys(batch + 1, next);
    warp.soften(batch);
    warp.weigh();
    warp.load_values(batch + 1, next);
    warp.find(batch + 2, next);
  }
  warp.put(sums, states);
  __syncthreads();
  constexpr int kFours = Shape::kValueDim / MergedPart::kOf;
  for (int i = static_cast<int>(threadIdx.x); i < Shape::kGroup * kFours; i += Shape::kThreads) {
    const int row = i / kFours;
    const int dim = i % kFours * MergedPart::kOf;
    MergedPart merged;
#pragma unroll
    for (int other = 0; other < Shape::kWarps; ++other) {
      const int from = other * Shape::kGroup + row;
      merged.add(*reinterpret_cast<const MergedPart::Sums*>(sums + from * Shape::kValueDim + dim),
                 device::SoftmaxState{states[from].x, states[from].y});
    }
    store_merged(problem, item, kv_head, row, dim, merged);
  }
}

// Runs attention for items of one query each, whose group is Config::kRows; another group is an
// invalid value. MergeParts merges the parts of split items.
template <typename Config>
cudaError_t DecodeFma(const Problem<Config>& problem, cudaStream_t stream = nullptr,
                      bool pdl = false) {
  using Shape = DecodeFmaShape<Config>;
  if (problem.item_count == 0 || problem.kv_heads == 0) return cudaSuccess;
  if (problem.group.divisor() != Shape::kGroup) return cudaErrorInvalidValue;
  device::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(problem.item_count * problem.kv_heads));
  config.block = dim3(Shape::kThreads);
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<DecodeFmaKernel<Config>>(config, problem);
}

}  // namespace fictl::attention
