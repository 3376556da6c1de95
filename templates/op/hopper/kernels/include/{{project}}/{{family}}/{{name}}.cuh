{% from "_macros/row_names.jinja" import out, names with context %}
{% from "_macros/comment.jinja" import comment %}
{% set numbers, number_names, values, vecs, widened, maps, map_names = [], [], [], [], [], [], [] %}
{% for scalar in scalars %}
{% set _ = numbers.append(("bool " if scalar.type == "bool" else "float ") ~ scalar.name) %}
{% set _ = number_names.append(scalar.name) %}
{% endfor %}
{% for each in [out] + names %}
{% set _ = maps.append("const CUtensorMap& " ~ each) %}
{% set _ = map_names.append(each) %}
{% endfor %}
{% for each in names %}
{% set _ = values.append("float " ~ each) %}
{% set _ = vecs.append("device::Vec<T, N> " ~ each) %}
{% set _ = widened.append("device::widen(" ~ each ~ "[i])") %}
{% endfor %}
{{ comment(name ~ ": " ~ out ~ " = " ~ expression ~ ", element by element, in fp32 and rounded once; a pipeline for Hopper.") }}
//
// Algorithm: one block an SM stays and takes one tile after another. One thread, the producer, asks
// the copy engine for tiles ahead of time; eight warps, the consumers, transform what has arrived
// and ask the engine to store it:
//
//   producer    wait_empty, expect the bytes, load   | the next stage ...
//   consumers   wait_full, stage -> registers -> panel, fence, release the stage, store the panel
//
// What they wait for, and where it is in the kernel below:
//   ring.full       the stage's bytes have arrived: the copy engine counts them at an mbarrier
//   ring.empty      every consumer warp has read the stage: the next tile may overwrite it
//   fence           ordinary accesses to shared memory are over before the copy engine's begin. A
//                   barrier alone does not order the two: device/hopper/proxy.cuh has the rules
//   bulk_wait_read  the copy engine has read a panel: the warp may write it again
//
// Traffic: every element is read once and written once. Tiles on their way take shared memory, not
// registers, so few threads keep enough of them: {{ (8 if names | length <= 2 else 16 // names | length) * 8 * names | length }} KiB an SM, where 25 cover the latency of HBM.
//
// Tiling: 16 rows of 512 bytes, 2 rows a consumer warp. Shorter rows leave a part of a tile empty.
//
// Edges: what a tile covers beyond the matrix is loaded as zero and is not stored, so no thread has
// a condition. Rows begin at multiples of 16 bytes, or there is no tensor map.
//
{{ comment(out ~ " may be " ~ names | join(" or ") ~ ": a tile is stored by the block that has loaded it.") }}
#pragma once

{% set headers = ["hopper/bulk_copy", "hopper/elect", "hopper/guard", "hopper/proxy", "hopper/ring", "hopper/tensor_map", "launch", "math", "vec", "wide"] + expression.headers | list %}
{% for header in headers | sort %}
#include <fictl/device/{{ header }}.cuh>
{% endfor %}

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
namespace device = fictl::device;

{% endif %}
{{ cpp_function("__device__ inline float " ~ name ~ "_value(", values + numbers, "return " ~ expression.cpp() ~ ";") }}

template <typename T, int N>
{{ cpp("__device__ device::Vec<T, N> " ~ name ~ "_vec(", vecs + numbers, ") {") }}
  device::Vec<T, N> result;
#pragma unroll
  for (int i = 0; i < N; ++i) {
{{ cpp("    result[i] = device::narrow<T>(" ~ name ~ "_value(", widened + number_names, "));") }}
  }
  return result;
}

template <typename T>
struct {{ title }}Tile {
  static constexpr int kInputs = {{ names | length }};
  static constexpr int kRows = 16;
  static constexpr int kCols = 512 / sizeof(T);
  static constexpr int kElements = kRows * kCols;
  static constexpr int kStageBytes = kInputs * kElements * sizeof(T);
  static constexpr int kStages = kInputs <= 2 ? 8 : 16 / kInputs;
  static constexpr int kPanels = 2;  // of a warp: one is written while the other is on its way
  static constexpr int kWarps = 8;   // consumers
  static constexpr int kWarpRows = kRows / kWarps;
  static constexpr int kWarpElements = kWarpRows * kCols;
  static constexpr int kThreads = (kWarps + 1) * 32;  // the last warp is the producer's
  static_assert(kStages >= 2, "tiles of more inputs are to be smaller");
};

// Shared memory of a block. The copy engine wants multiples of 128 bytes.
template <typename T>
struct {{ title }}Shared {
  using Tile = {{ title }}Tile<T>;
{% for each in names %}
  alignas(128) T {{ each }}[Tile::kStages][Tile::kElements];
{% endfor %}
  alignas(128) T panels[Tile::kWarps][Tile::kPanels][Tile::kWarpElements];
  device::Ring<Tile::kStages> ring;
};

// `tiles` are numbered row by row, `across` of them beside one another.
template <typename T>
__global__ void __launch_bounds__({{ title }}Tile<T>::kThreads, 1)
{% set grid_maps = [] %}
{% for each in [out] + names %}
{% set _ = grid_maps.append("const __grid_constant__ CUtensorMap " ~ each ~ "_map") %}
{% endfor %}
{{ cpp("    " ~ title ~ "Kernel(", grid_maps + numbers + ["int tiles", "int across"], ") {") }}
#ifdef FICTL_HOPPER
  using Tile = {{ title }}Tile<T>;
  extern __shared__ __align__(128) unsigned char dynamic_shared[];
  auto& shared = *reinterpret_cast<{{ title }}Shared<T>*>(dynamic_shared);
  auto& ring = shared.ring;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first = static_cast<int>(blockIdx.x);
  const int step = static_cast<int>(gridDim.x);

  if (threadIdx.x == 0) ring.init(Tile::kWarps);
  __syncthreads();
  device::pdl_wait();
  device::pdl_trigger();

  typename device::Ring<Tile::kStages>::Position at;
  if (warp == Tile::kWarps) {
    if (!device::elect_lane()) return;
    for (int tile = first; tile < tiles; tile += step, at.advance()) {
      const int row = tile / across * Tile::kRows;
      const int col = tile % across * Tile::kCols;
      ring.wait_empty(at);
      ring.expect(at, Tile::kStageBytes);  // the whole boxes, beyond the matrix too
      device::Mbarrier& full = ring.full[at.stage];
{% for each in names %}
      device::load_tensor(shared.{{ each }}[at.stage], {{ each }}_map, full, col, row);
{% endfor %}
    }
    return;
  }

  constexpr int N = device::kVecBytes / sizeof(T);
  constexpr int kVecs = Tile::kWarpElements / (32 * N);  // a lane
  using Vec = device::Vec<T, N>;
  int turn = 0;
  for (int tile = first; tile < tiles; tile += step, at.advance()) {
    const int row = tile / across * Tile::kRows + warp * Tile::kWarpRows;
    const int col = tile % across * Tile::kCols;
    T* panel = shared.panels[warp][turn++ % Tile::kPanels];
    if (lane == 0) device::bulk_wait_read<Tile::kPanels - 1>();
    __syncwarp();
    ring.wait_full(at);
{% for each in names %}
    Vec {{ each }}[kVecs];
{% endfor %}
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {  // all loads first: no store keeps the next one waiting
      const int from = warp * Tile::kWarpElements + (i * 32 + lane) * N;
{% for each in names %}
      {{ each }}[i] = *reinterpret_cast<const Vec*>(&shared.{{ each }}[at.stage][from]);
{% endfor %}
    }
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      Vec* to = reinterpret_cast<Vec*>(panel) + i * 32 + lane;
{% set read = [] %}
{% for each in names %}
{% set _ = read.append(each ~ "[i]") %}
{% endfor %}
{{ cpp("      *to = " ~ name ~ "_vec(", read + number_names, ");") }}
    }
    // Both before the producer's next load into the stage, and before the store of the panel.
    device::fence_async_shared();
    __syncwarp();
    if (lane == 0) {
      ring.release(at);
      device::store_tensor({{ out }}_map, panel, col, row);
      device::bulk_commit();
    }
  }
  // The panels must exist until they have been read.
  if (lane == 0) device::bulk_wait_read<0>();
#endif
}

// One copy moves the box of a map: an input's tile, or a warp's rows of {{ out }}.
template <typename T>
{{ cpp("device::TensorMapSpec " ~ name ~ "_map(", ["const T* data", "int64_t rows", "int64_t cols", "int64_t pitch", "int box_rows"], ") {") }}
  using Tile = {{ title }}Tile<T>;
  const int64_t stride = rows > 1 ? pitch : Tile::kCols;  // that of a single row may be anything
  return device::TensorMapSpec::of(data).with(cols, 1, Tile::kCols).with(rows, stride, box_rows);
}

// Maps are those of {{ name }}_map(). `pdl`: use programmatic dependent launch.
template <typename T>
{{ cpp("cudaError_t " ~ title ~ "(", maps + numbers + ["int64_t rows", "int64_t cols", "int sm_count", "cudaStream_t stream = nullptr", "bool pdl = false"], ") {") }}
  using Tile = {{ title }}Tile<T>;
  if (rows == 0 || cols == 0) return cudaSuccess;
  const int64_t across = device::ceil_div(cols, Tile::kCols);
  const int64_t tiles = device::ceil_div(rows, Tile::kRows) * across;
  if (tiles > INT32_MAX) return cudaErrorInvalidValue;
  device::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(tiles < sm_count ? tiles : sm_count));
  config.block = dim3(Tile::kThreads);
  config.shared_bytes = sizeof({{ title }}Shared<T>);
  config.stream = stream;
  config.pdl = pdl;
{{ cpp("  return device::launch<" ~ title ~ "Kernel<T>>(", ["config"] + map_names + number_names + ["static_cast<int>(tiles)", "static_cast<int>(across)"], ");") }}
}

}  // namespace {{ project }}::{{ family }}
