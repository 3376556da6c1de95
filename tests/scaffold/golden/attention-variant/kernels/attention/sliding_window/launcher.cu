#include <binding/launch.h>
#include <limits.h>

#include <my_kernels/attention/sliding_window.cuh>

#include "config.inc"

namespace my_kernels::attention {

using fictl::Launch;
using fictl::View;

namespace {

template <typename T>
fictl::attention::Heads<T> heads_of(View x) {
  return {x.data<T>(), x.stride(0), x.stride(1)};
}

}  // namespace

// A line of `work` is an Item of <fictl/attention/work.cuh>.
void sliding_window(const Launch& launch, View out, View q, View k, View v, int64_t window,
                    View work, bool causal, double scale) {
  if (work.size(0) == 0) return;
  using T = Config::Q;
  fictl::attention::Problem<Config> problem{};
  problem.q = heads_of<const T>(q);
  problem.keys = {heads_of<const T>(k), heads_of<const T>(v)};
  problem.out = heads_of<T>(out);
  problem.items = work.data<const fictl::attention::Item>();
  problem.item_count = static_cast<int>(work.size(0));
  problem.kv_heads = static_cast<int>(k.size(1));
  problem.group = fictl::device::Divisor(static_cast<int>(q.size(1) / k.size(1)));
  problem.scale = static_cast<float>(scale);
  problem.v_scale = 1.0f;
  problem.window_left = INT_MAX;
  problem.causal = causal;
  problem.variant.window = static_cast<int>(window);
  CUDA_CHECK(launch, fictl::attention::Attend(problem, launch.stream, launch.pdl));
}

}  // namespace my_kernels::attention
