// How a row of attention ends, of whichever kernel: what its sums are multiplied with, and what is
// written down.
#pragma once

#include <fictl/attention/head_shape.cuh>
#include <fictl/attention/problem.cuh>
#include <fictl/attention/row.cuh>
#include <fictl/attention/variant.cuh>
#include <fictl/device/convert.cuh>
#include <fictl/device/softmax.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::attention {

// Scores are base-2 logarithms: natural ones times this.
constexpr float kLog2E = 1.4426950408889634f;

// The end of a row: the factor of its sum of weighted values, and the base-2 logarithm of the sum
// of its weights.
struct RowEnd {
  float factor;
  float lse;
};

// Ends a part of a row's keys, as a mean that is merged with those of other parts.
__device__ inline RowEnd end_part(const device::SoftmaxState& state) {
  return {state.normalizer(), state.lse()};
}

// Ends a row with all of its keys. A sink is one more key, without a value.
template <typename Config>
__device__ RowEnd end_row(const Problem<Config>& problem, device::SoftmaxState state, int head) {
  float kept = 1.0f;
  if (problem.sinks != nullptr) kept = state.add(problem.sinks[head] * kLog2E);
  return {kept * state.normalizer() * problem.v_scale, state.lse()};
}

// Stores N contiguous values of a row, from `dim` on, multiplied by the factor of end_row. `at` is
// the row's place, `token` its query among those of all requests.
template <int N, typename Config>
__device__ void store_out(const Problem<Config>& problem, const Place& at, int64_t token, int dim,
                          const float (&sums)[N], float factor) {
  float values[N];
#pragma unroll
  for (int i = 0; i < N; ++i) {
    values[i] = sums[i] * factor;
    if constexpr (Config::Variant::kOutputs) {
      values[i] = problem.variant.output(values[i], at, dim + i);
    }
  }
  device::store_l2(problem.out.row(token, at.head) + dim,
                   device::from_float<typename Config::O>(values));
}

template <typename Config>
__device__ void store_lse(const Problem<Config>& problem, int64_t token, int head, float lse) {
  if (problem.lse == nullptr) return;
  problem.lse[token * problem.kv_heads * problem.group.divisor() + head] = lse;
}

// The same of a part's row, by its number among the partial ones.
template <int N, typename Config>
__device__ void store_partial_out(const Problem<Config>& problem, int64_t row, int kv_head, int dim,
                                  const float (&sums)[N], float factor) {
  device::Vec<float, N> values;
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] = sums[i] * factor;
  device::store_l2(
      problem.partial_out + (row * problem.kv_heads + kv_head) * kValueDimOf<Config> + dim, values);
}

template <typename Config>
__device__ void store_partial_lse(const Problem<Config>& problem, int64_t row, int kv_head,
                                  float lse) {
  problem.partial_lse[row * problem.kv_heads + kv_head] = lse;
}

}  // namespace fictl::attention
