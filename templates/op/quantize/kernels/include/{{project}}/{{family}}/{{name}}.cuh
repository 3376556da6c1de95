{% from "_macros/matrix_names.jinja" import host, kernel with context %}
{% from "_macros/comment.jinja" import comment %}
{% set x, q, scales = inputs[0].name, outputs[0].name, outputs[1].name %}
{% set to = parse_dtype(outputs[0].dtype) %}
{% set is_int = to.short == "i8" %}
// {{ name }}: {{ to.name }} with a scale for each group of adjacent elements of a row:
// {{ q }} = {{ x }} / scale, rounded once, and scale = the largest |{{ x }}| of the group / {{ {"e4m3": 448, "e5m2": 57344, "i8": 127}[to.short] }}.
//
// Algorithm: the threads of a group load all of it, agree on the largest magnitude, and write what
// they hold, scaled. A NaN makes NaN of its group's scale, so that it is not lost{{ "; the group's integers\n// are 0 then" if is_int }}.
//
// Traffic: {{ x }} is read once, and {{ q }}, a byte an element, is written once. Groups of more than 16 KiB
// are read twice, the second time from L2. The limit is the bandwidth of the memory.
//
// Tiling, by the vectors of 16 bytes in a group (16 for 128 values of bf16):
//   up to 32     A vector a thread. Several groups share a warp, the next power of two of lanes
//                each, and agree by shuffles: no shared memory, no barrier.
//   up to 1024   Four vectors a thread and a block a group, all loads before the first use.
//   more         The same, but every walk over the group loads it again.
//
// Where a pointer, a pitch or the length of a group is not aligned to 16 bytes, a vector is one
// element.
#pragma once

#include <math.h>

#include <fictl/device/convert.cuh>
{% if not is_int %}
#include <fictl/device/element_fp8.cuh>
{% endif %}
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>
{% if is_int %}
#include <fictl/device/wide.cuh>
{% endif %}

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
namespace device = fictl::device;

{% endif %}
using {{ title }}To = {{ to.cpp }};

constexpr float k{{ title }}Largest = {{ {"e4m3": "448.0f", "e5m2": "57344.0f", "i8": "127.0f"}[to.short] }};
constexpr float k{{ title }}Least = 1e-10f;  // that a group's largest counts as
constexpr int k{{ title }}Threads = 256;
constexpr int k{{ title }}Vecs = 4;  // a thread

// The arguments of a launch. Row strides (pitches) in elements; a row has `groups`.
template <typename T>
struct {{ title }}Args {
  {{ title }}To* {{ q }};
  float* {{ scales }};
  const T* {{ x }};
  int64_t rows;
  int64_t groups;
  int64_t group_size;
  int64_t {{ q }}_pitch;
  int64_t {{ x }}_pitch;
};

// The scale of a group. For one that is a power of two, round it up here, and in trace.py.
__device__ inline float {{ title }}Scale(float largest) {
  if (largest < k{{ title }}Least) largest = k{{ title }}Least;
  return largest * (1.0f / k{{ title }}Largest);
}

template <typename T, int N>
{{ cpp("__device__ device::Vec<" ~ title ~ "To, N> " ~ title ~ "Vec(", ["const device::Vec<T, N>& vec", "float inverse"], ") {") }}
  float values[N];
  device::to_float(vec, values);
{% if is_int %}
  device::Vec<{{ title }}To, N> result;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const float value = values[i] * inverse;
    result[i] = value == value ? device::narrow<{{ title }}To>(value) : {{ title }}To(0);
  }
  return result;
{% else %}
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] *= inverse;
  return device::from_float<{{ title }}To>(values);
{% endif %}
}

// blockDim.y groups a block, of blockDim.x threads each. A thread has every blockDim.x-th vector,
// kVecs of them at a time; if kHeld, these are all and are loaded once. Pointers, pitches and
// groups are multiples of N.
template <typename T, int N, int kVecs, bool kHeld>
{{ kernel("k" ~ title ~ "Threads") }}
  __shared__ typename device::BlockReduce<float>::Storage storage;
  device::BlockReduce<float> over_block(storage);
  const int64_t group = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  const int64_t row = group / args.groups;
  const int64_t start = (group - row * args.groups) * args.group_size;
  // Why not nothing at all beyond the last group: the others' lanes need these to agree.
  const int64_t size = row < args.rows ? args.group_size : 0;
  const T* {{ x }} = args.{{ x }} + row * args.{{ x }}_pitch + start;
  {{ title }}To* {{ q }} = args.{{ q }} + row * args.{{ q }}_pitch + start;
  const int64_t step = static_cast<int64_t>(blockDim.x) * N;

  device::pdl_wait();
  device::pdl_trigger();
  device::Vec<T, N> vecs[kVecs];
  const auto load = [&](int64_t from) {
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int64_t at = from + i * step;
      if (at < size) vecs[i] = device::load_l2<N>({{ x }} + at);
    }
  };
  float largest = 0.0f;
  for (int64_t from = threadIdx.x * N; from < size; from += kVecs * step) {
    load(from);
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      if (from + i * step >= size) continue;
      float values[N];
      device::to_float(vecs[i], values);
#pragma unroll
      for (int j = 0; j < N; ++j) largest = device::Max()(largest, fabsf(values[j]));
    }
  }
  largest = blockDim.x > device::kWarpSize
                ? over_block(device::Max(), largest)
                : device::warp_reduce(device::Max(), largest, blockDim.x);
  const float scale = {{ title }}Scale(largest);
  if (size > 0 && threadIdx.x == 0) args.{{ scales }}[group] = scale;
  const float inverse = 1.0f / scale;
  for (int64_t from = threadIdx.x * N; from < size; from += kVecs * step) {
    if constexpr (!kHeld) load(from);
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int64_t at = from + i * step;
      if (at < size) device::store_l2({{ q }} + at, {{ title }}Vec(vecs[i], inverse));
    }
  }
}

template <typename T, int N>
cudaError_t Launch{{ title }}(device::LaunchConfig config, const {{ title }}Args<T>& args) {
  constexpr int kSharedThreads = 128;  // a block of groups that share warps
  constexpr int kHeldVecs = k{{ title }}Threads * k{{ title }}Vecs;
  const int64_t vecs = args.group_size / N;
  unsigned lanes = 1;
  while (lanes < vecs && lanes < device::kWarpSize) lanes *= 2;
  if (vecs <= device::kWarpSize) {
    config.block = dim3(lanes, kSharedThreads / lanes);
  } else {
    const int64_t warps = device::ceil_div(vecs, device::kWarpSize * k{{ title }}Vecs);
    const int64_t threads = warps * device::kWarpSize;
    config.block = dim3(threads < k{{ title }}Threads ? threads : k{{ title }}Threads);
  }
  config.grid = dim3(device::ceil_div(args.rows * args.groups, config.block.y));
  constexpr int kVecs = k{{ title }}Vecs;
  if (vecs <= device::kWarpSize) {
    return device::launch<{{ title }}Kernel<T, N, 1, true>>(config, args);
  }
  return vecs <= kHeldVecs ? device::launch<{{ title }}Kernel<T, N, kVecs, true>>(config, args)
                           : device::launch<{{ title }}Kernel<T, N, kVecs, false>>(config, args);
}

// `{{ scales }}` has rows of `groups`, one after the other. `pdl`: use programmatic dependent launch
// where the GPU supports it.
{{ host("const " ~ title ~ "Args<T>& args") }}
  if (args.rows == 0 || args.groups == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  bool aligned = args.group_size % N == 0;
  aligned &= device::vec_aligned(args.{{ x }}) && args.{{ x }}_pitch % N == 0;
  aligned &= device::vec_aligned(args.{{ q }}) && args.{{ q }}_pitch % N == 0;

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  return aligned ? Launch{{ title }}<T, N>(config, args) : Launch{{ title }}<T, 1>(config, args);
}

}  // namespace {{ project }}::{{ family }}
