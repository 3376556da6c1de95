{% from "_macros/matrix_names.jinja" import host, kernel with context %}
{% from "_macros/comment.jinja" import comment %}
{% set x, weights, ids = inputs[0].name, outputs[0].name, outputs[1].name %}
{{ comment(name ~ ": routing of a mixture of experts: for every token the top_k experts with the greatest scores, and their weights.") }}
//
// Scores are the softmax or the sigmoid of the logits. A bias, if there is one, is added for the
// choice alone. With groups, only experts of the top_groups best groups of adjacent experts are
// chosen from: a group is as good as its best expert or, with a bias, as its best two together.
// Weights are the scores of the chosen, divided by their sum if renormalize is set, times a factor.
//
// Algorithm: a warp has a token, and its lanes have its experts in registers. What the choice goes
// by becomes an unsigned integer in the same order, so that the largest of a warp is one
// instruction. It is found top_k times; the lane that had it looks for its next one. Without a bias
// the choice goes by the logits, whose order is that of the scores, also where these are rounded to
// the same number. Of equal experts the first one is chosen: the result is the same in every run.
//
// Traffic: the logits are read once, and 8 bytes are written for each chosen expert. The launch
// takes most of the time up to some thousand tokens; then the search does, which is top_k steps of
// a dozen instructions.
//
// Tiling: a lane has 2 to 32 experts, in vectors of up to 16 bytes; four tokens a block. No shared
// memory, no barrier.
//
// Where a pointer, a pitch or the number of experts is not aligned to 16 bytes, a vector is one
// element.
#pragma once

#include <math.h>
#include <stdint.h>

#include <fictl/device/element.cuh>
#include <fictl/device/functions.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/topk/key.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
namespace device = fictl::device;
{% endif %}
namespace ordered = fictl::topk;

constexpr int k{{ title }}Warps = 4;  // of a block, a token each
constexpr int k{{ title }}Threads = k{{ title }}Warps * device::kWarpSize;
constexpr int k{{ title }}MostExperts = 1024;
constexpr int k{{ title }}MostGroups = device::kWarpSize;  // a lane each
constexpr int k{{ title }}MostTopK = device::kWarpSize;
constexpr float k{{ title }}LeastSum = 1e-20f;  // to divide weights by

// The arguments of a launch. The row stride (pitch) is in elements; no bias is null.
template <typename T>
struct {{ title }}Args {
  float* {{ weights }};
  int32_t* {{ ids }};
  const T* {{ x }};
  const float* bias;
  int64_t tokens;
  int64_t {{ x }}_pitch;
  int experts;
  int top_k;
  int groups;
  int top_groups;
  bool sigmoid;
  bool renormalize;
  float scale;
};

// The experts of a token, shared by the lanes of a warp: each lane has every 32nd vector of N.
template <typename T, int N, int kVecs>
class {{ title }}Token {
 public:
  __device__ {{ title }}Token(const {{ title }}Args<T>& args) : args_(args), lane_(threadIdx.x) {}

  // Reads logits; `keys` are in their order.
  __device__ void load(const T* {{ x }}) {
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      device::Vec<T, N> vec;
      if (expert_of(i * N) < args_.experts) vec = device::load_l2<N>({{ x }} + expert_of(i * N));
#pragma unroll
      for (int j = 0; j < N; ++j) {
        const int at = i * N + j;
        const bool is_there = expert_of(at) < args_.experts;
        scores_[at] = is_there ? device::Element<T>::to_float(vec[j]) : -INFINITY;
        keys_[at] = is_there ? ordered::key_of(scores_[at]) : ordered::kNoKey;
      }
    }
  }

  // Makes scores of logits. For a score of your own, change this, and _scores in trace.py.
  __device__ void score() {
    if (args_.sigmoid) {
#pragma unroll
      for (float& x : scores_) x = 1.0f / (1.0f + expf(-x));
      return;
    }
    float most = -INFINITY;
#pragma unroll
    for (const float x : scores_) most = device::Max()(most, x);
    most = device::warp_reduce(device::Max(), most);
    float sum = 0.0f;
#pragma unroll
    for (int at = 0; at < kExperts; ++at) {
      scores_[at] = expf(scores_[at] - most);
      if (expert_of(at) < args_.experts) sum += scores_[at];
    }
    const float inverse = 1.0f / device::warp_sum(sum);
#pragma unroll
    for (float& x : scores_) x *= inverse;
  }

  // From here on the choice goes by scores with their bias.
  __device__ void add_bias() {
#pragma unroll
    for (int at = 0; at < kExperts; ++at) {
      const int expert = expert_of(at);
      if (expert < args_.experts) {
        keys_[at] = ordered::key_of(scores_[at] + __ldca(args_.bias + expert));
      }
    }
  }

  // Takes all experts out of the choice but those of the best groups.
  __device__ void keep_best_groups() {
    const int size = args_.experts / args_.groups;
    uint32_t mine = ordered::kNoKey;  // of the group with this lane's number
    for (int group = 0; group < args_.groups; ++group) {
      const uint32_t key = group_key(group * size, size);
      if (lane_ == group) mine = key;
    }
    uint32_t kept = 0;
    for (int i = 0; i < args_.top_groups; ++i) {
      const uint32_t best = device::warp_max(mine);
      const int group = __ffs(__ballot_sync(0xffffffff, mine == best)) - 1;
      kept |= 1u << group;
      if (lane_ == group) mine = ordered::kNoKey;
    }
#pragma unroll
    for (int at = 0; at < kExperts; ++at) {
      const int group = expert_of(at) / size;
      if (group >= args_.groups || (kept >> group & 1) == 0) keys_[at] = ordered::kNoKey;
    }
  }

  // Chooses the best; lane i has the i-th, -1 beyond top_k. Sets `weight` to its score.
  __device__ int choose(float& weight) {
    int chosen = -1;
    int own = best_place();
    uint32_t key = key_at(own);
    for (int i = 0; i < args_.top_k; ++i) {
      const uint32_t best = device::warp_max(key);
      // The first expert is the one whose complement is the largest.
      const uint32_t first = key == best ? ~static_cast<uint32_t>(expert_of(own)) : 0;
      const int expert = static_cast<int>(~device::warp_max(first));
      const int owner = expert / N % device::kWarpSize;
      const float score = __shfl_sync(0xffffffff, score_at(own), owner);
      if (lane_ == i) {
        chosen = expert;
        weight = score;
      }
      if (lane_ == owner) {
        forget(own);
        own = best_place();
        key = key_at(own);
      }
    }
    return chosen;
  }

 private:
  static constexpr int kExperts = kVecs * N;  // of a lane

  __device__ int expert_of(int at) const {
    return (at / N * device::kWarpSize + lane_) * N + at % N;
  }

  // The key of a group: of its best expert, or of the sum of its best two.
  __device__ uint32_t group_key(int start, int size) const {
    uint32_t best = ordered::kNoKey;
    uint32_t second = ordered::kNoKey;
#pragma unroll
    for (int at = 0; at < kExperts; ++at) {
      const int expert = expert_of(at);
      const bool inside = expert >= start && expert < start + size;
      const uint32_t key = inside ? keys_[at] : ordered::kNoKey;
      second = key > best ? best : key > second ? key : second;
      best = key > best ? key : best;
    }
    const uint32_t group_best = device::warp_max(best);
    if (args_.bias == nullptr || size == 1) return group_best;
    const int owner = __ffs(__ballot_sync(0xffffffff, best == group_best)) - 1;
    const uint32_t group_second = device::warp_max(lane_ == owner ? second : best);
    return ordered::key_of(ordered::value_of<float>(group_best) +
                           ordered::value_of<float>(group_second));
  }

  // Why loops over places that are known: an index that is not would move the arrays to memory.
  __device__ int best_place() const {
    int place = 0;
    uint32_t best = keys_[0];
#pragma unroll
    for (int at = 1; at < kExperts; ++at) {
      place = keys_[at] > best ? at : place;
      best = keys_[at] > best ? keys_[at] : best;
    }
    return place;
  }

  __device__ uint32_t key_at(int place) const {
    uint32_t key = keys_[0];
#pragma unroll
    for (int at = 1; at < kExperts; ++at) key = at == place ? keys_[at] : key;
    return key;
  }

  __device__ float score_at(int place) const {
    float score = scores_[0];
#pragma unroll
    for (int at = 1; at < kExperts; ++at) score = at == place ? scores_[at] : score;
    return score;
  }

  __device__ void forget(int place) {
#pragma unroll
    for (int at = 0; at < kExperts; ++at) keys_[at] = at == place ? ordered::kNoKey : keys_[at];
  }

  const {{ title }}Args<T>& args_;
  int lane_;
  float scores_[kExperts];
  uint32_t keys_[kExperts];
};

template <typename T, int N, int kVecs>
{{ kernel("k" ~ title ~ "Threads") }}
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (row >= args.tokens) return;

  device::pdl_wait();
  device::pdl_trigger();
  {{ title }}Token<T, N, kVecs> token(args);
  token.load(args.{{ x }} + row * args.{{ x }}_pitch);
  token.score();
  if (args.bias != nullptr) token.add_bias();
  if (args.groups > 1) token.keep_best_groups();
  float weight = 0.0f;
  const int chosen = token.choose(weight);
  const float sum = args.renormalize ? device::warp_sum(weight) : 1.0f;
  weight *= args.scale / (sum < k{{ title }}LeastSum ? k{{ title }}LeastSum : sum);
  if (chosen < 0) return;
  args.{{ weights }}[row * args.top_k + threadIdx.x] = weight;
  args.{{ ids }}[row * args.top_k + threadIdx.x] = chosen;
}

// A lane has kExperts.
template <int kExperts, typename T>
cudaError_t Launch{{ title }}(const device::LaunchConfig& config, const {{ title }}Args<T>& args) {
  constexpr int kMost = device::kVecBytes / sizeof(T);
  constexpr int N = kExperts < kMost ? kExperts : kMost;
  bool aligned = args.experts % N == 0;
  aligned &= device::vec_aligned(args.{{ x }}) && args.{{ x }}_pitch % N == 0;
  if (aligned) return device::launch<{{ title }}Kernel<T, N, kExperts / N>>(config, args);
  // Why not each: routers of models are aligned, and every kernel takes time to compile.
  constexpr int kAny = kExperts <= 8 ? 8 : 32;
  return device::launch<{{ title }}Kernel<T, 1, kAny>>(config, args);
}

// There are up to k{{ title }}MostExperts experts in up to k{{ title }}MostGroups equal groups; top_k is
// up to k{{ title }}MostTopK, and so many experts are in top_groups. `{{ weights }}` and `{{ ids }}` have rows of
// top_k, one after the other. `pdl`: use programmatic dependent launch where the GPU supports it.
{{ host("const " ~ title ~ "Args<T>& args") }}
  if (args.tokens == 0 || args.top_k == 0) return cudaSuccess;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  config.block = dim3(device::kWarpSize, k{{ title }}Warps);
  config.grid = dim3(device::ceil_div(args.tokens, k{{ title }}Warps));
  const int64_t of_a_lane = device::ceil_div(args.experts, device::kWarpSize);
  if (of_a_lane <= 2) return Launch{{ title }}<2>(config, args);
  if (of_a_lane <= 4) return Launch{{ title }}<4>(config, args);
  if (of_a_lane <= 8) return Launch{{ title }}<8>(config, args);
  if (of_a_lane <= 16) return Launch{{ title }}<16>(config, args);
  return Launch{{ title }}<32>(config, args);
}

}  // namespace {{ project }}::{{ family }}
