// What softmax.cuh does with the scores of a row, functions of functions.cuh, and put.cuh.
#include <binding/launch.h>

#include <fictl/device/functions.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/put.cuh>
#include <fictl/device/softmax.cuh>

namespace blocks {

namespace device = fictl::device;
using fictl::Launch;
using fictl::View;

namespace {

constexpr int kTile = 3;

// A softmax and what it makes of values.
struct Average {
  device::SoftmaxState state;
  float out = 0.0f;
};

// Of the scores from `first` on, `step` apart, kTile at a time, the last alone.
__device__ Average average(const float* scores, const float* values, int first, int step, int end) {
  Average of;
  int i = first;
  for (; i + (kTile - 1) * step < end; i += kTile * step) {
    float most = scores[i];
    for (int j = 1; j < kTile; ++j) most = fmaxf(most, scores[i + j * step]);
    of.out *= of.state.raise(most);
    for (int j = 0; j < kTile; ++j) {
      const float weight = of.state.weight(scores[i + j * step]);
      of.state.sum += weight;
      of.out += weight * values[i + j * step];
    }
  }
  for (; i < end; i += step) {
    of.out *= of.state.add(scores[i]);
    of.out += of.state.weight(scores[i]) * values[i];
  }
  return of;
}

// A row a thread: in `parts`, one after the other, each by a state of its own.
__global__ void SoftmaxKernel(const float* scores, const float* values, float* out, float* lse,
                              int keys, int parts) {
  scores += threadIdx.x * keys;
  values += threadIdx.x * keys;
  Average all;
  for (int part = 0; part < parts; ++part) {
    const Average one = average(scores, values, part, parts, keys);
    all.out *= all.state.add(one.state);
    all.out += one.out * all.state.weight(one.state.max);
  }
  out[threadIdx.x] = all.out * all.state.normalizer();
  lse[threadIdx.x] = all.state.lse();
}

template <typename F>
__global__ void TanhKernel(const F* x, F* out) {
  out[threadIdx.x] = device::fast_tanh(x[threadIdx.x]);
}

__global__ void PolynomialExp2Kernel(const float* x, float* out) {
  out[threadIdx.x] = device::polynomial_exp2(x[threadIdx.x]);
}

device::LaunchConfig one_block(const Launch& launch, int64_t threads) {
  device::LaunchConfig config;
  config.grid = dim3(1);
  config.block = dim3(static_cast<unsigned>(threads));
  config.stream = launch.stream;
  return config;
}

}  // namespace

void softmax(const Launch& launch, View out, View lse, View scores, View values, int64_t parts) {
  CUDA_CHECK(launch, device::launch<SoftmaxKernel>(
                         one_block(launch, out.numel()), scores.data<const float>(),
                         values.data<const float>(), out.data<float>(), lse.data<float>(),
                         static_cast<int>(scores.size(1)), static_cast<int>(parts)));
}

void tanh(const Launch& launch, View out, View x) {
  const device::LaunchConfig config = one_block(launch, x.numel());
  if (x.dtype().bits == 64) {
    CUDA_CHECK(launch, device::launch<TanhKernel<double>>(config, x.data<const double>(),
                                                          out.data<double>()));
  } else {
    CUDA_CHECK(launch,
               device::launch<TanhKernel<float>>(config, x.data<const float>(), out.data<float>()));
  }
}

void polynomial_exp2(const Launch& launch, View out, View x) {
  CUDA_CHECK(launch, device::launch<PolynomialExp2Kernel>(
                         one_block(launch, x.numel()), x.data<const float>(), out.data<float>()));
}

void put(const Launch& launch, View out, View from) {
  CUDA_CHECK(launch, device::put(out.data<int32_t>(), from.data<const int32_t>(), from.numel(),
                                 launch.stream, launch.pdl));
}

}  // namespace blocks
