// {{ name }}: {{ outputs[0].name }} = {{ expression }}, element by element, in {{ "fp64 where fp32 is not exact" if is_wide else "fp32" }} and rounded once.
//
// Traffic: every element is read once and written once. Nothing is reused, so the limit is the
// memory's bandwidth.
//
// Tiling: one vector of 16 bytes of each input a thread, and as many threads as there are vectors.
// 2048 threads per SM keep 32 KiB in flight, where about 25 KiB cover the latency of HBM. More
// vectors a thread are slower: on an H200, a copy of 128 MiB takes 64.0 us with one, as cudaMemcpy
// does, and 66.3 us with two or four, 69.0 us where those four are marked to leave L2 first.
//
// Rows at a stride: the same, with vectors numbered through all rows; a division finds the row. The
// end of a row that fills no vector goes element by element. If a pointer or a pitch is not aligned
// to 16 bytes, a vector is one element and a thread takes several, all loads first.
//
// The output may be an input: the thread that writes an element is the one that has read it.
#pragma once

{% set headers = ["launch", "math", "vec", "wide"] + expression.headers | list %}
{% for header in headers | sort %}
#include <fictl/device/{{ header }}.cuh>
{% endfor %}

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
namespace device = fictl::device;

{% endif %}
{% set out = outputs[0].name %}
{% set names = inputs | map(attribute="name") | list %}
{% set real = "device::Wide<T>" if is_wide else "float" %}
{% set numbers = [] %}
{% set number_names = scalars | map(attribute="name") | list %}
{% for scalar in scalars %}
{% set _ = numbers.append(("bool" if scalar.type == "bool" else real) ~ " " ~ scalar.name) %}
{% endfor %}
{% set pointers = ["T* " ~ out] %}
{% set values = [] %}
{% set elements = [] %}
{% set vecs = [] %}
{% set widened = [] %}
{% for each in names %}
{% set _ = pointers.append("const T* " ~ each) %}
{% set _ = values.append(("F " if is_wide else "float ") ~ each) %}
{% set _ = elements.append("T " ~ each) %}
{% set _ = vecs.append("device::Vec<T, N> " ~ each) %}
{% set _ = widened.append("device::widen(" ~ each ~ ")") %}
{% endfor %}
{% set value_numbers = [] %}
{% for scalar in scalars %}
{% set _ = value_numbers.append(("bool " if scalar.type == "bool" else ("F " if is_wide else "float ")) ~ scalar.name) %}
{% endfor %}
constexpr int k{{ title }}Threads = 256;

{% if is_wide %}
template <typename F>
{{ cpp_function("__device__ F " ~ name ~ "_value(", values + value_numbers, "return " ~ expression.cpp("F") ~ ";") }}
{% else %}
{{ cpp_function("__device__ inline float " ~ name ~ "_value(", values + value_numbers, "return " ~ expression.cpp() ~ ";") }}
{% endif %}

template <typename T>
{{ cpp_function("__device__ T " ~ name ~ "_element(", elements + numbers, "return device::narrow<T>(" ~ name ~ "_value(" ~ (widened + number_names) | join(", ") ~ "));") }}

template <typename T, int N>
{{ cpp("__device__ device::Vec<T, N> " ~ name ~ "_vec(", vecs + numbers, ") {") }}
  device::Vec<T, N> {{ out }};
#pragma unroll
  for (int i = 0; i < N; ++i) {
{% set at = [] %}
{% for each in names %}
{% set _ = at.append(each ~ "[i]") %}
{% endfor %}
{{ cpp("    " ~ out ~ "[i] = " ~ name ~ "_element(", at + number_names, ");") }}
  }
  return {{ out }};
}

// n elements; all pointers aligned to a vector of N.
template <typename T, int N>
__global__ void __launch_bounds__(k{{ title }}Threads)
{{ cpp("    " ~ title ~ "Kernel(", pointers + numbers + ["int64_t n"], ") {") }}
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * k{{ title }}Threads + threadIdx.x) * N;
  device::pdl_wait();
  device::pdl_trigger();
  if (at + N <= n) {
{% set loaded = [] %}
{% for each in names %}
{% set _ = loaded.append("device::load_l2<N>(" ~ each ~ " + at)") %}
{% endfor %}
{{ cpp("    device::store_l2(" ~ out ~ " + at, " ~ name ~ "_vec(", loaded + number_names, "));") }}
  } else {
#pragma unroll 1
    for (int64_t i = at; i < n; ++i) {
{{ cpp("      " ~ out ~ "[i] = " ~ name ~ "_element(", at + number_names, ");") }}
    }
  }
}

// Matrices of one shape, each with its own row stride (pitch); all in elements.
struct {{ title }}Shape {
  int64_t rows;
  int64_t cols;
{% for each in [out] + names %}
  int64_t {{ each }}_pitch;
{% endfor %}
};

// Pointers and pitches aligned to a vector of N; kLoads vectors a thread.
template <typename T, int N, int kLoads>
__global__ void __launch_bounds__(k{{ title }}Threads)
{{ cpp("    " ~ title ~ "RowsKernel(", pointers + numbers + [title ~ "Shape shape", "int64_t vecs_per_row"], ") {") }}
  int64_t row[kLoads];
  int64_t col[kLoads];
  int64_t left[kLoads];  // elements to the end of the row
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int64_t block = static_cast<int64_t>(blockIdx.x) * kLoads + i;
    const int64_t index = block * k{{ title }}Threads + threadIdx.x;
    row[i] = shape.rows == 1 ? 0 : index / vecs_per_row;
    col[i] = (index - row[i] * vecs_per_row) * N;
    left[i] = row[i] < shape.rows ? shape.cols - col[i] : 0;
  }

  device::pdl_wait();
  device::pdl_trigger();
{% for each in names %}
  device::Vec<T, N> {{ each }}_vec[kLoads];
{% endfor %}
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    if (left[i] < N) continue;
{% for each in names %}
    {{ each }}_vec[i] = device::load_l2<N>({{ each }} + row[i] * shape.{{ each }}_pitch + col[i]);
{% endfor %}
  }
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    T* to = {{ out }} + row[i] * shape.{{ out }}_pitch + col[i];
    if (left[i] >= N) {
{% set held = [] %}
{% for each in names %}
{% set _ = held.append(each ~ "_vec[i]") %}
{% endfor %}
{{ cpp("      device::store_l2(to, " ~ name ~ "_vec(", held + number_names, "));") }}
    } else {
{% set of_row = [] %}
{% for each in names %}
{% set _ = of_row.append(each ~ "_row[j]") %}
      const T* {{ each }}_row = {{ each }} + row[i] * shape.{{ each }}_pitch + col[i];
{% endfor %}
#pragma unroll 1
      for (int j = 0; j < left[i]; ++j) {
{{ cpp("        to[j] = " ~ name ~ "_element(", of_row + number_names, ");") }}
      }
    }
  }
}

template <typename T, int N, int kLoads>
{{ cpp("cudaError_t Launch" ~ title ~ "Rows(", ["device::LaunchConfig config"] + pointers + numbers + ["const " ~ title ~ "Shape& shape"], ") {") }}
  const int64_t vecs_per_row = device::ceil_div(shape.cols, N);
  const int64_t threads = device::ceil_div(shape.rows * vecs_per_row, kLoads);
  config.grid = dim3(device::ceil_div(threads, k{{ title }}Threads));
{{ cpp("  return device::launch<" ~ title ~ "RowsKernel<T, N, kLoads>>(", ["config", out] + names + number_names + ["shape", "vecs_per_row"], ");") }}
}

// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename T>
{{ cpp("cudaError_t " ~ title ~ "(", pointers + numbers + ["const " ~ title ~ "Shape& shape", "cudaStream_t stream = nullptr", "bool pdl = false"], ") {") }}
  if (shape.rows == 0 || shape.cols == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
{% set aligned = ["device::vec_aligned(" ~ out ~ ")"] %}
{% set pitched = ["shape." ~ out ~ "_pitch % N == 0"] %}
{% for each in names %}
{% set _ = aligned.append("device::vec_aligned(" ~ each ~ ")") %}
{% set _ = pitched.append("shape." ~ each ~ "_pitch % N == 0") %}
{% endfor %}
  bool pointers_aligned = {{ aligned[0] }};
{% for each in aligned[1:] %}
  pointers_aligned &= {{ each }};
{% endfor %}
  bool pitches_aligned = {{ pitched[0] }};
{% for each in pitched[1:] %}
  pitches_aligned &= {{ each }};
{% endfor %}

  device::LaunchConfig config;
  config.block = dim3(k{{ title }}Threads);
  config.stream = stream;
  config.pdl = pdl;
{% set arguments = ["config", out] + names + number_names %}
  if (shape.rows == 1 && pointers_aligned) {
    config.grid = dim3(device::ceil_div(shape.cols, N * k{{ title }}Threads));
{{ cpp("    return device::launch<" ~ title ~ "Kernel<T, N>>(", arguments + ["shape.cols"], ");") }}
  }
  if (pointers_aligned && pitches_aligned) {
{{ cpp("    return Launch" ~ title ~ "Rows<T, N, 1>(", arguments + ["shape"], ");") }}
  }
{{ cpp("  return Launch" ~ title ~ "Rows<T, 1, 4>(", arguments + ["shape"], ");") }}
}

}  // namespace {{ project }}::{{ family }}
