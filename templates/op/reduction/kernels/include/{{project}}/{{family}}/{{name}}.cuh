{% from "_macros/row_names.jinja" import real, out, names, vectors, rows, vecs, kernel, values with context %}
{% from "_macros/comment.jinja" import comment %}
{% set stages = expression.stages %}
{# A reduction is in the pass after the last one that it needs. #}
{% set pass_of = {} %}
{% for stage in stages %}
{% set needed = [-1] %}
{% for each in stage.of.names if each in pass_of %}
{% set _ = needed.append(pass_of[each]) %}
{% endfor %}
{% set _ = pass_of.update({stage.name: needed | max + 1}) %}
{% endfor %}
{% set passes = pass_of.values() | max + 1 %}
{% set threads = 256 if passes == 1 else 1024 %}
{{ comment(name ~ ": " ~ out ~ " = " ~ expression ~ " of every row, computed in fp32" ~ (" (fp64 for what fp32 cannot hold)" if is_wide else "") ~ " and rounded once.") }}
//
{% set piece = threads * vecs * 16 // 1024 %}
{% set bytes = 8 if is_wide else 4 %}
{% set cut = "Algorithm: a row is cut into pieces of " ~ piece ~ " KiB, counted from its start. The threads of a piece combine what they have loaded, in an order that depends only on the length of the row" %}
{% set same = " There are no atomics: a row gives the same, bit by bit, whatever is batched with it and however often it is asked." %}
{% if passes == 1 %}
{{ comment(cut ~ ". A row of one piece is then done; of a longer one the pieces leave their results in a workspace, and a second kernel combines these." ~ same) }}
//
{{ comment("Traffic: a row is read once. The results of pieces are " ~ bytes ~ " bytes for each " ~ piece ~ " KiB. The limit is the bandwidth of the memory.") }}
{% else %}
{{ comment(cut ~ ": " ~ stages | map(attribute="name") | join(", then ") ~ ". A row of one piece does all that at once, from registers. Of a longer one each of " ~ passes ~ " kernels does what needs the results of those before it: the pieces leave theirs in a workspace, and a last kernel combines them." ~ same) }}
//
{{ comment("Traffic: a row of one piece is read once, a longer one " ~ passes ~ " times, from L2 if it is still there. The results of pieces are " ~ bytes ~ " bytes each. The limit is the bandwidth of the memory.") }}
{% endif %}
//
// Tiling, by the vectors of 16 bytes in a row (512 for 4096 values of bf16):
//   up to 32     A vector a thread. Several rows share a warp, the next power of two of lanes each:
//                a block a row would leave most lanes of a short row without work. No shared
//                memory, no barrier.
{{ "//   up to %-6s" | format(threads * vecs) }} {{ {4: "Four vectors", 2: "Two vectors", 1: "One vector"}[vecs] }} a thread and a block a row, all loads before the first use.
//                {{ "Small blocks, as a barrier holds up a whole one: while it waits, others load." if passes == 1 else "Large ones, as what fits a block is read once." }}
//   more         A block a piece: a few long rows fill the GPU as many short ones do.
//
// Where a pointer, a pitch or the length of a row is not aligned to 16 bytes, a vector is one
// element, and the threads of a piece walk it in several steps.
#pragma once

{% for header in (["launch", "math", "reduce", "vec", "wide"] + expression.headers | list + (["element_fp8"] if has_fp8 else [])) | sort %}
#include <fictl/device/{{ header }}.cuh>
{% endfor %}

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
namespace device = fictl::device;

{% endif %}
constexpr int k{{ title }}Vecs = {{ vecs }};  // a thread
constexpr int k{{ title }}Threads = {{ threads }};
constexpr int k{{ title }}PieceBytes = k{{ title }}Threads * k{{ title }}Vecs * device::kVecBytes;
constexpr int k{{ title }}Stages = {{ stages | length }};  // results of a piece
// The stage of a kernel: all of a row, in one piece; the first of its passes over pieces, and so
// on; and after the last of these the combination of their results.
constexpr int k{{ title }}Whole = -1;
constexpr int k{{ title }}Passes = {{ passes }};

inline int64_t {{ title }}Pieces(int64_t row_bytes) {
  return row_bytes == 0 ? 1 : device::ceil_div(row_bytes, k{{ title }}PieceBytes);
}

{% set pitched = rows %}
{% set own = ["// How many a row has, and what they leave, by row, stage and piece.", "unsigned pieces;", ("device::Wide<T>*" if is_wide else "float*") ~ " results;"] %}
{% include "_macros/row_args.cuh" %}

// The part that a thread has of a row, or of a piece of one, shared by blockDim.x threads: every
// blockDim.x-th vector, kVecs of them at a time. If kHeld, these are all and are loaded once; else
// every walk over it loads them again. Pointers and lengths are multiples of N.
template <typename T, int N, int kVecs, bool kHeld, int kPass>
class {{ title }}Row {
 public:
{% if is_wide %}
  using Real = device::Wide<T>;
{% endif %}
  using Args = {{ title }}Args<T>;
  using Storage = typename device::BlockReduce<{{ real }}>::Storage;

  __device__ {{ title }}Row(const Args& args, Storage& storage) : args_(args), over_block_(storage) {
    if constexpr (kInPieces) {
      row_ = blockIdx.x / args.pieces;
      piece_ = blockIdx.x % args.pieces;
    } else {
      row_ = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
      piece_ = 0;
    }
    constexpr int64_t kPiece = k{{ title }}PieceBytes / sizeof(T);
    const int64_t start = piece_ * kPiece;
    const int64_t left = args.cols - start;
    // Why not nothing at all beyond the last row: the other rows' lanes need these to reduce.
    size_ = row_ >= args.rows ? 0 : left < kPiece ? left : kPiece;
{% for each in names %}
    {{ each }}_ = args.{{ each }} + {{ "row_ * args." ~ each ~ "_pitch + " if each in rows }}start;
{% endfor %}
  }

{% include "_macros/row_load.cuh" %}

{% set length = "args_.cols" %}
{% include "_macros/row_reductions.cuh" %}
{% if passes > 1 %}
  // Begins the next pass, which needs the results of the last one.
  __device__ void next_pass() { ++pass_; }

{% endif %}
  __device__ void store({{ real }} value) {
    if constexpr (kInPieces) return;
    if (threadIdx.x == 0 && row_ < args_.rows) args_.{{ out }}[row_] = device::narrow<T>(value);
  }

 private:
  using Vec = device::Vec<T, N>;
  static constexpr bool kInPieces = kPass != k{{ title }}Whole && kPass != k{{ title }}Passes;

  template <typename Op, typename Value>
  __device__ {{ real }} reduce(Op op, Value value) {
    if constexpr (kPass == k{{ title }}Whole) return share(op, combine(op, value));
    {{ real }}* results = args_.results + (row_ * k{{ title }}Stages + stage_++) * args_.pieces;
{% if passes == 1 %}
    if constexpr (kPass == k{{ title }}Passes) return share(op, gather(op, results));
{% else %}
    if (pass_ < kPass) return share(op, gather(op, results));
    if (pass_ > kPass) return {{ real }}();  // and nobody asks for it
{% endif %}
    const {{ real }} result = share(op, combine(op, value));
    if (threadIdx.x == 0) results[piece_] = result;
    return result;
  }

  // The results of pieces that this thread combines.
  template <typename Op>
  __device__ {{ real }} gather(Op op, const {{ real }}* results) {
    {{ real }} result = Op::kNone;
    if (row_ >= args_.rows) return result;
    for (unsigned i = threadIdx.x; i < args_.pieces; i += blockDim.x) {
      result = op(result, __ldcg(results + i));
    }
    return result;
  }

{% include "_macros/row_combine.cuh" %}

{% include "_macros/row_walk.cuh" %}

  const Args& args_;
  int64_t row_;
  unsigned piece_;
  int64_t size_;
  int stage_ = 0;
{% if passes > 1 %}
  int pass_ = 0;
{% endif %}
{% for each in names %}
  const T* {{ each }}_;
{% endfor %}
{% for each in names %}
  Vec {{ each }}_vec_[kVecs];
{% endfor %}
  device::BlockReduce<{{ real }}> over_block_;
};

template <typename T, int N, int kVecs, bool kHeld, int kPass>
{{ kernel(title ~ "Kernel(" ~ title ~ "Args<T> args) {", "k" ~ title ~ "Threads") }}
{% if is_wide %}
  using Real = device::Wide<T>;
{% endif %}
  using Row = {{ title }}Row<T, N, kVecs, kHeld, kPass>;
  __shared__ typename Row::Storage storage;
  Row row(args, storage);
{% for each in scalars %}
  const {{ "bool" if each.type == "bool" else real }} {{ each.name }} = args.{{ each.name }};
{% endfor %}

  device::pdl_wait();
  device::pdl_trigger();
  if constexpr (kHeld && kPass != k{{ title }}Passes) row.load();
{% set ordered = [] %}
{% for pass in range(passes) %}
{% if not loop.first %}
  row.next_pass();
{% endif %}
{% for stage in stages if pass_of[stage.name] == pass %}
  const {{ real }} {{ stage.name }} = row.{{ stage.reduction }}({{ values(stage.of) }} { return {{ stage.of.cpp(real) }}; });
{% endfor %}
{% endfor %}
  row.store({{ expression.final.cpp(real) }});
}

// blockDim.y rows a block, of blockDim.x threads each, for so many things in a row.
inline void {{ title }}Blocks(device::LaunchConfig& config, int64_t rows, int64_t things, int each) {
  constexpr int kSharedThreads = 128;  // a block of rows that share warps
  if (things <= device::kWarpSize) {
    unsigned lanes = 1;
    while (lanes < things) lanes *= 2;
    config.block = dim3(lanes, kSharedThreads / lanes);
  } else {
    const int64_t warps = device::ceil_div(things, each * device::kWarpSize);
    constexpr int kMostWarps = k{{ title }}Threads / device::kWarpSize;
    config.block = dim3((warps < kMostWarps ? warps : kMostWarps) * device::kWarpSize);
  }
  config.grid = dim3(device::ceil_div(rows, config.block.y));
}

template <typename T, int N>
{{ cpp("cudaError_t Launch" ~ title ~ "(", ["device::LaunchConfig config", "const " ~ title ~ "Args<T>& args"], ") {") }}
  constexpr int kVecs = k{{ title }}Vecs;
  constexpr bool kHeld = N > 1;
  const int64_t vecs = args.cols / N;
  if (args.pieces == 1) {
    {{ title }}Blocks(config, args.rows, vecs, kVecs);
    if (vecs <= device::kWarpSize) {
      return device::launch<{{ title }}Kernel<T, N, 1, true, k{{ title }}Whole>>(config, args);
    }
    return device::launch<{{ title }}Kernel<T, N, kVecs, kHeld, k{{ title }}Whole>>(config, args);
  }
  config.block = dim3(k{{ title }}Threads);
  config.grid = dim3(args.rows * args.pieces);
{% for pass in range(passes) %}
  {{ "cudaError_t " if loop.first }}status = device::launch<{{ title }}Kernel<T, N, kVecs, kHeld, {{ pass }}>>(config, args);
  if (status != cudaSuccess) return status;
{% endfor %}
  {{ title }}Blocks(config, args.rows, args.pieces, 1);
  return device::launch<{{ title }}Kernel<T, 1, 1, true, k{{ title }}Passes>>(config, args);
}

// `results` has k{{ title }}Stages * rows * {{ title }}Pieces(bytes of a row) values where there
// are several pieces; `pieces` is set here. `pdl`: use programmatic dependent launch where the GPU
// supports it.
template <typename T>
{{ cpp("cudaError_t " ~ title ~ "(", [title ~ "Args<T> args", "cudaStream_t stream = nullptr", "bool pdl = false"], ") {") }}
  if (args.rows == 0) return cudaSuccess;
  args.pieces = {{ title }}Pieces(args.cols * sizeof(T));
  constexpr int N = device::kVecBytes / sizeof(T);
  bool aligned = args.cols % N == 0;
{% for each in rows %}
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
