{% from "_macros/row_names.jinja" import out, names, vectors, rows, kernel, values with context %}
{% from "_macros/comment.jinja" import comment %}
{% set stages = expression.stages %}
{# A tile is 16 values of each tensor a thread: what registers hold of so many threads. #}
{% set threads = {1: 1024, 2: 512}.get(names | length, 256) %}
{{ comment(name ~ ": " ~ out ~ " is a token of every row, drawn by the weights " ~ expression ~ ".") }}
//
// Algorithm: a row is cut into tiles of 512 adjacent tokens. A warp adds up the weights of a tile.
// When all sums are there, one random number says in which tile the token is: where the sums of
// tiles, one after the other, pass that part of the total. This tile is read again, and in it the
// same number says which token it is.
{% if stages %}
{{ comment("Before all that, " ~ stages | map(attribute="name") | join(", then ") ~ (" is" if stages | length == 1 else " are") ~ " found in the same way, tile by tile.") }}
{% endif %}
// Whichever warp has a tile adds it up in the same order, and the sums of tiles are added up in
// theirs: for the same random number a row gives the same token, whatever is batched with it and
// however many blocks share it. There are no atomics, and no draw is rejected.
//
{{ comment("Traffic: a row is read " ~ ("once" if not stages else {1: "twice", 2: "three times", 3: "four times"}.get(stages | length, "several times") ~ ", from the second time on from L2") ~ ", and one tile of it once more. The limit is the bandwidth of the memory.") }}
//
{{ comment("Tiling: a thread loads 16 elements" ~ (" of each tensor" if names | length > 1 else "") ~ " before it uses the first, and up to " ~ threads // 32 ~ " warps of a block take tiles in turn: what an SM has in flight covers the latency of HBM. Where there are fewer rows than SMs, up to eight blocks share a row as a cluster, as one SM has only a hundredth of the memory's bandwidth; each writes the results of its tiles to the shared memory of all.") }}
//
// If a pointer is not aligned to 16 bytes, or a pitch is not a multiple of four elements, these are
// read one by one.
#pragma once

{% for header in (["cluster", "indices", "launch", "math", "reduce", "vec"] + expression.headers | list) | sort %}
#include <fictl/device/{{ header }}.cuh>
{% endfor %}
#include <fictl/sampling/philox.cuh>
#include <fictl/sampling/tiles.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
namespace device = fictl::device;
{% endif %}
namespace sampler = fictl::sampling;

constexpr int k{{ title }}Threads = {{ threads }};

// The arguments of a launch. Row strides (pitches) in elements.
template <typename T>
struct {{ title }}Args {
  int32_t* {{ out }};
{% for each in names %}
  const T* {{ each }};
{% endfor %}
{% for each in scalars %}
  {{ "bool" if each.type == "bool" else "float" }} {{ each.name }};
{% endfor %}
  device::Indices indices;  // the row of each token; without data it is the row of its number
  sampler::Draws draws;
  int64_t tokens;
  int64_t rows;
  int cols;
{% for each in rows %}
  int64_t {{ each }}_pitch;
{% endfor %}
  bool aligned;  // set by the launch
};

// The row of a token, which the blocks of a cluster share. Every thread calls everything, in the
// same order, and has the result.
template <typename T>
class {{ title }}Row {
 public:
  using Args = {{ title }}Args<T>;
  // Results of tiles. Why twice: who is slow still reads one half while the other is written.
  struct Storage {
    float results[2][sampler::kMostTiles];
  };

  __device__ {{ title }}Row(const Args& args, Storage& storage)
      : args_(args), storage_(storage), token_(blockIdx.x / device::Cluster::size()) {
    const int64_t row = args.indices.data == nullptr ? token_ : args.indices[token_];
    const bool is_there = row >= 0 && row < args.rows;
    size_ = is_there ? args.cols : 0;
{% for each in names %}
    {{ each }}_ = {args.{{ each }}{{ " + (is_there ? row * args." ~ each ~ "_pitch : 0)" if each in rows }}, size_, args.aligned};
{% endfor %}
    device::Cluster::sync();  // From here on the other blocks' shared memory is there.
  }

{% set reductions = stages | map(attribute="reduction") | list %}
{% for reduction, op in {"sum": "Sum", "max": "Max", "min": "Min"}.items() %}
{% if reduction in reductions or (reduction == "sum" and "mean" in reductions) %}
  template <typename Value>
  __device__ float {{ reduction }}(Value value) {
    return reduce(device::{{ op }}(), value);
  }

{% endif %}
{% endfor %}
{% if "mean" in reductions %}
  template <typename Value>
  __device__ float mean(Value value) {
    return sum(value) / static_cast<float>(size_);
  }

{% endif %}
  // Stores a token, as likely as its share of the weights. Weights not above 0, and NaN, count as
  // 0; without a positive weight the token is 0.
  template <typename Value>
  __device__ void draw(Value value) {
    const auto weight = [&](auto... x) { return positive(value(x...)); };
    const float* sums = each_tile(device::Sum(), weight);
    if (device::Cluster::rank() > 0 || threadIdx.x >= device::kWarpSize) return;
    const auto sum = [&](int tile) { return sums[tile]; };
    const float part = args_.draws.of(token_).uniform();
    const float target = part * sampler::total_of(sum, tiles());
    const sampler::Place place = sampler::place_of(sum, tiles(), target);
    int token = 0;
    if (place.at >= 0) {
      const sampler::LaneTile weights = load(place.at, weight, 0.0f);
      token = place.at * sampler::kTile + sampler::place_in_tile(weights, place.remaining);
    }
    if (threadIdx.x == 0) args_.{{ out }}[token_] = token;
  }

 private:
  __device__ int tiles() const { return {{ names[0] }}_.tiles(); }

  __device__ static float positive(float weight) { return weight > 0.0f ? weight : 0.0f; }

  // The values of a tile, by one warp. Beyond the end of the row they are `none`.
  template <typename Value>
  __device__ sampler::LaneTile load(int tile, Value value, float none) const {
{% for each in names %}
    const sampler::LaneTile {{ each }} = {{ each }}_.load(tile, 0.0f);
{% endfor %}
    sampler::LaneTile result;
    const int left = size_ - tile * sampler::kTile;
#pragma unroll
    for (int i = 0; i < sampler::kLaneValues; ++i) {
      const bool is_inside = sampler::LaneTile::offset(i) < left;
      {% set passed = [] %}{% for each in names %}{% set _ = passed.append(each ~ ".x[i]") %}{% endfor %}
      result.x[i] = is_inside ? value({{ passed | join(", ") }}) : none;
    }
    return result;
  }

{% if stages %}
  template <typename Op, typename Value>
  __device__ float reduce(Op op, Value value) {
    const float* results = each_tile(op, value);
    float result = Op::kNone;
    for (int tile = threadIdx.x % device::kWarpSize; tile < tiles(); tile += device::kWarpSize) {
      result = op(result, results[tile]);
    }
    return device::warp_reduce(op, result);
  }

{% endif %}
  // Reduces the values of each tile of the row by `op`, into the shared memory of every block.
  template <typename Op, typename Value>
  __device__ const float* each_tile(Op op, Value value) {
    float* results = storage_.results[half_];
    half_ ^= 1;
    const int lane = threadIdx.x % device::kWarpSize;
    const int warps = blockDim.x / device::kWarpSize;
    const int first = device::Cluster::rank() * warps + threadIdx.x / device::kWarpSize;
    for (int tile = first; tile < tiles(); tile += warps * device::Cluster::size()) {
      const sampler::LaneTile values = load(tile, value, Op::kNone);
      float result = values.x[0];
#pragma unroll
      for (int i = 1; i < sampler::kLaneValues; ++i) result = op(result, values.x[i]);
      result = device::warp_reduce(op, result);
      if (lane < device::Cluster::size()) device::Cluster::at(results, lane)[tile] = result;
    }
    device::Cluster::sync();
    return results;
  }

  const Args& args_;
  Storage& storage_;
  int half_ = 0;
  int64_t token_;
  int size_;
{% for each in names %}
  sampler::TiledRow<T> {{ each }}_;
{% endfor %}
};

template <typename T>
{{ kernel(title ~ "Kernel(" ~ title ~ "Args<T> args) {", "k" ~ title ~ "Threads") }}
  __shared__ typename {{ title }}Row<T>::Storage storage;
  device::pdl_wait();
  device::pdl_trigger();
  {{ title }}Row<T> row(args, storage);
{% for each in scalars %}
  const {{ "bool" if each.type == "bool" else "float" }} {{ each.name }} = args.{{ each.name }};
{% endfor %}

{% for stage in stages %}
  const float {{ stage.name }} = row.{{ stage.reduction }}({{ values(stage.of) }} { return {{ stage.of.cpp("float") }}; });
{% endfor %}
  row.draw({{ values(expression.final) }} { return {{ expression.final.cpp("float") }}; });
}

// A row has up to sampler::kMostElements tokens. `pdl`: use programmatic dependent launch where the
// GPU supports it.
template <typename T>
{{ cpp("cudaError_t " ~ title ~ "(", [title ~ "Args<T> args", "int sm_count", "cudaStream_t stream = nullptr", "bool pdl = false"], ") {") }}
  constexpr int kLeast = 8 * sampler::kTile;  // of a row's tokens that are worth a block
  constexpr int kMostWarps = k{{ title }}Threads / device::kWarpSize;
  if (args.tokens == 0) return cudaSuccess;
  args.aligned = true;
{% for each in names %}
  args.aligned &= device::vec_aligned(args.{{ each }});
{% endfor %}
{% for each in rows %}
  args.aligned &= args.{{ each }}_pitch % sampler::kTileVec == 0;
{% endfor %}

{% set blocks = "device::blocks_a_row<" ~ title ~ "Kernel<T>>(args.tokens, args.cols, kLeast, sm_count);" %}
  const int blocks ={{ " " if blocks | length <= 81 else "\n      " }}{{ blocks }}
  const int64_t tiles = device::ceil_div(args.cols, sampler::kTile * blocks);
  const int warps = tiles < kMostWarps ? tiles : kMostWarps;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  config.cluster = dim3(blocks);
  config.grid = dim3(args.tokens * blocks);
  config.block = dim3(warps * device::kWarpSize);
  return device::launch<{{ title }}Kernel<T>>(config, args);
}

}  // namespace {{ project }}::{{ family }}
