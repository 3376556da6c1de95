{% from "_macros/row_names.jinja" import real, out, names, vectors, rows, kernel with context %}
{% from "_macros/comment.jinja" import comment %}
{{ comment(name ~ ": " ~ out ~ " = " ~ expression ~ ", element by element of rows of a fixed length, in fp32" ~ (" (fp64 for what fp32 cannot hold)" if is_wide else "") ~ " and rounded once.") }}
//
// Config holds what is fixed when the module is built: the element type, the length of a row, and
// the elements of a vector. launcher.cu has it from config.inc, which jit.py renders.
//
{{ comment("Traffic: every element is read once and written once" ~ ("; " ~ vectors | join(", ") ~ (" is" if vectors | length == 1 else " are") ~ " read by every row, from L1" if vectors else "") ~ ". The limit is the memory's bandwidth.") }}
//
// Tiling: one vector of 16 bytes of each tensor a thread, and as many threads as there are vectors.
// 2048 threads per SM keep 32 KiB in flight, where about 25 KiB cover the latency of HBM. As a row
// has a fixed number of vectors, finding a thread's place is a shift or a multiplication, where a
// division would be tens of instructions.
//
// Where a pointer or a pitch is not aligned to 16 bytes, a vector is one element.
//
{{ comment(out ~ " may be " ~ rows | join(" or ") ~ ": the thread that writes an element is the one that has read it.") }}
#pragma once

{% for header in (["launch", "math", "vec", "wide"] + expression.headers | list + (["element_fp8"] if has_fp8 else [])) | sort %}
#include <fictl/device/{{ header }}.cuh>
{% endfor %}

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
namespace device = fictl::device;

{% endif %}
{% set numbers = scalars | map(attribute="name") | list %}
{% set values = [] %}
{% for each in names %}
{% set _ = values.append(("F " if is_wide else "float ") ~ each) %}
{% endfor %}
{% for each in scalars %}
{% set _ = values.append(("bool " if each.type == "bool" else "F " if is_wide else "float ") ~ each.name) %}
{% endfor %}
constexpr int k{{ title }}Threads = 256;

{% if is_wide %}
template <typename F>
{{ cpp_function("__device__ F " ~ name ~ "_value(", values, "return " ~ expression.cpp("F") ~ ";") }}
{% else %}
{{ cpp_function("__device__ inline float " ~ name ~ "_value(", values, "return " ~ expression.cpp() ~ ";") }}
{% endif %}

// Row strides (pitches) in elements.
template <typename Config>
struct {{ title }}Args {
  using T = typename Config::T;
  T* {{ out }};
{% for each in names %}
  const T* {{ each }};
{% endfor %}
{% for each in scalars %}
  {{ "bool" if each.type == "bool" else "device::Wide<T>" if is_wide else "float" }} {{ each.name }};
{% endfor %}
  int64_t rows;
{% for each in [out] + rows %}
  int64_t {{ each }}_pitch;
{% endfor %}
};

{% if vectors %}
// Loads what all rows share through L1. Why not __ldg: under programmatic dependent launch L1 may
// hold what was there before the kernel that this one waited for, and only an ordinary load is sure
// to see that kernel's.
template <int N, typename T>
__device__ device::Vec<T, N> {{ name }}_shared(const T* from) {
  device::Vec<T, N> vec;
  vec.bits() = __ldca(reinterpret_cast<const typename device::Vec<T, N>::Bits*>(from));
  return vec;
}

{% endif %}
// A vector of N elements a thread; pointers and pitches are multiples of it.
template <typename Config, int N>
{{ kernel(title ~ "Kernel(" ~ title ~ "Args<Config> args) {", "k" ~ title ~ "Threads") }}
  using T = typename Config::T;
  constexpr int kVecs = Config::kCols / N;  // of a row
  const int64_t block = blockIdx.x;
  const int64_t index = block * k{{ title }}Threads + threadIdx.x;
  const int64_t row = index / kVecs;
  const int col = static_cast<int>(index - row * kVecs) * N;
  device::pdl_wait();
  device::pdl_trigger();
  if (row >= args.rows) return;
{% for each in names %}
{% set load = (name ~ "_shared<N>(args." ~ each ~ " + col);") if each in vectors else ("device::load_l2<N>(args." ~ each ~ " + row * args." ~ each ~ "_pitch + col);") %}
{% set held = "  device::Vec<T, N> " ~ each ~ "_vec =" %}
{{ held }}{{ " " if (held ~ " " ~ load) | length <= 100 else "\n      " }}{{ load }}
{% endfor %}
  device::Vec<T, N> {{ out }}_vec;
#pragma unroll
  for (int i = 0; i < N; ++i) {
{% set arguments = [] %}
{% for each in names %}
{% set _ = arguments.append("device::widen(" ~ each ~ "_vec[i])") %}
{% endfor %}
{% for each in numbers %}
{% set _ = arguments.append("args." ~ each) %}
{% endfor %}
{% set call = name ~ "_value(" ~ arguments | join(", ") ~ ");" %}
{% if 23 + call | length <= 100 or 8 + call | length > 100 %}
{{ cpp("    const auto value = " ~ name ~ "_value(", arguments, ");") }}
{% else %}
    const auto value =
        {{ call }}
{% endif %}
    {{ out }}_vec[i] = device::narrow<T>(value);
  }
{{ cpp("  device::store_l2(", ["args." ~ out ~ " + row * args." ~ out ~ "_pitch + col", out ~ "_vec"], ");") }}
}

template <typename Config, int N>
{{ cpp("cudaError_t Launch" ~ title ~ "(", ["device::LaunchConfig config", "const " ~ title ~ "Args<Config>& args"], ") {") }}
  const int64_t vecs = args.rows * (Config::kCols / N);
  config.block = dim3(k{{ title }}Threads);
  config.grid = dim3(device::ceil_div(vecs, k{{ title }}Threads));
  return device::launch<{{ title }}Kernel<Config, N>>(config, args);
}

// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename Config>
{{ cpp("cudaError_t " ~ title ~ "(", ["const " ~ title ~ "Args<Config>& args", "cudaStream_t stream = nullptr", "bool pdl = false"], ") {") }}
  if (args.rows == 0) return cudaSuccess;
  constexpr int N = Config::kVec;
  bool aligned = device::vec_aligned(args.{{ out }}) && args.{{ out }}_pitch % N == 0;
{% for each in names %}
  aligned &= device::vec_aligned(args.{{ each }}){{ " && args." ~ each ~ "_pitch % N == 0" if each in rows }};
{% endfor %}

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
{% set both = ["Launch" ~ title ~ "<Config, N>(config, args)", "Launch" ~ title ~ "<Config, 1>(config, args);"] %}
{% if ("  return aligned ? " ~ both | join(" : ")) | length <= 100 %}
  return aligned ? {{ both | join(" : ") }}
{% else %}
  return aligned ? {{ both[0] }}
                 : {{ both[1] }}
{% endif %}
}

}  // namespace {{ project }}::{{ family }}
