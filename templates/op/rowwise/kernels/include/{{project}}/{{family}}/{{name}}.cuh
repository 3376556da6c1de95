{% from "_macros/row_names.jinja" import real, out, names, vectors, rows, vecs, long_vecs, kernel, values with context %}
{% from "_macros/comment.jinja" import comment %}
{% set stages = expression.stages %}
{{ comment(name ~ ": " ~ out ~ " = " ~ expression ~ ", row by row, computed in fp32" ~ (" (fp64 for what fp32 cannot hold)" if is_wide else "") ~ " and rounded once.") }}
//
{{ comment("Algorithm: the threads of a row agree on " ~ stages | map(attribute="name") | join(", then on ") ~ ", and store what follows from " ~ ("it" if stages | length == 1 else "them") ~ " and from what they hold.") }}
//
// Traffic: a row is read once and written once; between the two it waits in registers.
{% if vectors %}
{{ comment((vectors | join(", ")) ~ (" is" if vectors | length == 1 else " are") ~ " read by every row, from L1.") }}
{% endif %}
// The loads of a thread are all issued before the first value is used, so that the memory's latency
// is paid once. The limit is its bandwidth.
//
// Tiling, by the vectors of 16 bytes in a row (512 for 4096 values of bf16):
//   up to 32     A vector a thread. Several rows share a warp, the next power of two of lanes each:
//                a block a row would leave most lanes of a short row without work. No shared
//                memory, no barrier.
{{ "//   up to %-6s %s vectors a thread and a block a row."|format(vecs * 1024, {4: "Four", 2: "Two", 1: "One"}[vecs]) | replace("One vectors", "One vector") }} What all threads of an SM have in
//                flight covers the latency of HBM. Small blocks, as the barrier of a reduction
//                holds up a whole one: while it waits, others load.
//   more         A block of 1024 threads walks the row once for each reduction and once to store;
//                L2 has much of it from the second time on.
// There are as many blocks as rows ask for: the GPU starts one as another ends, and its loads
// overlap the barriers and stores of other blocks.
//
// The choice sees the row, never how many rows there are: a row's result is the same, bit by bit,
// whatever is batched with it.
//
// Where a pointer, a pitch or the length of a row is not aligned to 16 bytes, a vector is one
// element.
//
{{ comment(out ~ " may be " ~ rows | join(" or ") ~ ": the thread that writes an element is the one that has read it, and has read it for the last time.") }}
#pragma once

{% for header in (["launch", "math", "reduce", "vec", "wide"] + expression.headers | list + (["element_fp8"] if has_fp8 else [])) | sort %}
#include <fictl/device/{{ header }}.cuh>
{% endfor %}

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
namespace device = fictl::device;

{% endif %}
{% set pitched = [out] + rows %}
{% set own = [] %}
{% include "_macros/row_args.cuh" %}

// The part that a thread has of a row shared by blockDim.x threads: every blockDim.x-th vector,
// kVecs of them at a time. If kHeld, these are all and are loaded once; else every walk over the
// row loads them again. Pointers and the length of the row are multiples of N.
template <typename T, int N, int kVecs, bool kHeld>
class {{ title }}Row {
 public:
{% if is_wide %}
  using Real = device::Wide<T>;
{% endif %}
  using Args = {{ title }}Args<T>;
  using Storage = typename device::BlockReduce<{{ real }}>::Storage;

{% set head = "  __device__ " ~ title ~ "Row(const Args& args, int64_t index, Storage& storage)" %}
{{ head }}{{ " " if head | length < 76 else "\n      " }}: over_block_(storage) {
    // Why not nothing at all beyond the last row: the other rows' lanes need these to reduce.
    size_ = index < args.rows ? args.cols : 0;
    {{ out }}_ = args.{{ out }} + index * args.{{ out }}_pitch;
{% for each in names %}
    {{ each }}_ = args.{{ each }}{{ " + index * args." ~ each ~ "_pitch" if each in rows }};
{% endfor %}
  }

{% include "_macros/row_load.cuh" %}

{% set length = "size_" %}
{% include "_macros/row_reductions.cuh" %}
  template <typename Value>
  __device__ void store(Value value) {
    walk([&](int i, int64_t at) {
      Vec result;
#pragma unroll
      for (int j = 0; j < N; ++j) {
{% for each in names %}
        const {{ real }} {{ each }} = device::widen({{ each }}_vec_[i][j]);
{% endfor %}
        result[j] = device::narrow<T>(value({{ names | join(", ") }}));
      }
      device::store_l2({{ out }}_ + at, result);
    });
  }

 private:
  using Vec = device::Vec<T, N>;

  template <typename Op, typename Value>
  __device__ {{ real }} reduce(Op op, Value value) {
    return share(op, combine(op, value));
  }

{% include "_macros/row_combine.cuh" %}

{% include "_macros/row_walk.cuh" %}

  int64_t size_;
  T* {{ out }}_;
{% for each in names %}
  const T* {{ each }}_;
{% endfor %}
{% for each in names %}
  Vec {{ each }}_vec_[kVecs];
{% endfor %}
  device::BlockReduce<{{ real }}> over_block_;
};

// blockDim.y rows a block, of blockDim.x threads each.
template <typename T, int N, int kVecs, bool kHeld>
{{ kernel(title ~ "Kernel(" ~ title ~ "Args<T> args) {") }}
{% if is_wide %}
  using Real = device::Wide<T>;
{% endif %}
  using Row = {{ title }}Row<T, N, kVecs, kHeld>;
  __shared__ typename Row::Storage storage;
  Row row(args, static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y, storage);
{% for each in scalars %}
  const {{ "bool" if each.type == "bool" else real }} {{ each.name }} = args.{{ each.name }};
{% endfor %}

  device::pdl_wait();
  device::pdl_trigger();
  if constexpr (kHeld) row.load();
{% for stage in expression.stages %}
  const {{ real }} {{ stage.name }} = row.{{ stage.reduction }}({{ values(stage.of) }} { return {{ stage.of.cpp(real) }}; });
{% endfor %}
  row.store({{ values(expression.final) }} { return {{ expression.final.cpp(real) }}; });
}

template <typename T, int N>
{{ cpp("cudaError_t Launch" ~ title ~ "(", ["device::LaunchConfig config", "const " ~ title ~ "Args<T>& args"], ") {") }}
  constexpr int kVecs = {{ vecs }};             // a thread of a row that has a block
{% if long_vecs != vecs %}
  constexpr int kLongVecs = {{ long_vecs }};         // and of one that is walked again
{% endif %}
  constexpr int kSharedThreads = 128;  // a block of rows that share warps
  const int64_t vecs = args.cols / N;
  if (vecs <= device::kWarpSize) {
    unsigned lanes = 1;
    while (lanes < vecs) lanes *= 2;
    config.block = dim3(lanes, kSharedThreads / lanes);
    config.grid = dim3(device::ceil_div(args.rows, config.block.y));
    return device::launch<{{ title }}Kernel<T, N, 1, true>>(config, args);
  }
  config.grid = dim3(args.rows);
  if (vecs <= kVecs * device::kMaxThreads) {
    const int64_t warps = device::ceil_div(vecs, kVecs * device::kWarpSize);
    config.block = dim3(warps * device::kWarpSize);
    return device::launch<{{ title }}Kernel<T, N, kVecs, true>>(config, args);
  }
  config.block = dim3(device::kMaxThreads);
  return device::launch<{{ title }}Kernel<T, N, {{ "kVecs" if long_vecs == vecs else "kLongVecs" }}, false>>(config, args);
}

// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename T>
{{ cpp("cudaError_t " ~ title ~ "(", ["const " ~ title ~ "Args<T>& args", "cudaStream_t stream = nullptr", "bool pdl = false"], ") {") }}
  if (args.rows == 0 || args.cols == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);
  bool aligned = args.cols % N == 0;
{% for each in [out] + rows %}
  aligned &= device::vec_aligned(args.{{ each }}) && args.{{ each }}_pitch % N == 0;
{% endfor %}
{% for each in vectors %}
  aligned &= device::vec_aligned(args.{{ each }});
{% endfor %}

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  return aligned ? Launch{{ title }}<T, N>(config, args) : Launch{{ title }}<T, 1>(config, args);
}

}  // namespace {{ project }}::{{ family }}
