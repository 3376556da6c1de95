// {{ name }}: the sum of each segment's rows, rounded once from fp32.
//
// Algorithm: split and merge, as decode attention splits its keys. The plan cuts every segment into
// items of at most a number of rows. A block takes an item: groups of threads walk its rows in
// turn, a thread has the columns of one vector, and the groups' sums meet in shared memory. A
// segment of one item is written straight to the output. The items of a longer one leave partial
// sums in a workspace, and the same kernel adds those up: a partial sum is a row, and a merge is an
// item. There are no atomics, and items are counted from the start of their segment: the sum of a
// segment is the same, bit by bit, whatever is batched with it.
//
// Traffic: a row is read once, a segment written once, and a longer segment has 4 bytes a column
// for every 256 rows beside that, 1 % of a bf16 input. The limit is the memory's bandwidth.
//
// Tiling: a tile of up to 32 vectors of 16 bytes a block, 512 bytes of a row, so that even a few
// items are many blocks. 256 threads have four rows each in flight, and as registers admit four
// such blocks or more, an SM has at least 64 KiB, where about 25 KiB cover the latency of HBM. An
// item of 256 rows keeps a block busy longer than it takes to start one. Where segments have less
// than a dozen rows, most threads of a block have none: then let it take several items.
//
// Where a pointer, a pitch or the number of columns is not aligned to 16 bytes, a vector is one
// element.
#pragma once

#include <fictl/device/element.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/vec.cuh>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
namespace device = fictl::device;

{% endif %}
constexpr int k{{ title }}Threads = 256;
constexpr int k{{ title }}Lanes = 32;  // of a row, at most
constexpr int k{{ title }}Depth = 4;   // rows in flight, a thread

// Rows from `start` up to `stop`, of one segment. Their sum is row `partial` of the workspace, or
// the segment's where that is negative. The plan's memory may have room for more items than there
// are: those have a negative segment.
struct alignas(16) {{ title }}Item {
  int32_t segment;
  int32_t start;
  int32_t stop;
  int32_t partial;
};

// The sum of N adjacent columns. A kernel of yours keeps its own state here: the running maximum,
// weight and values of a softmax, say.
template <int N>
struct alignas(N < 4 ? 4 : 16) {{ title }}State {
  float sum[N];

  template <typename T>
  __device__ void add(device::Vec<T, N> row) {
#pragma unroll
    for (int i = 0; i < N; ++i) sum[i] += device::Element<T>::to_float(row[i]);
  }

  __device__ void merge(const {{ title }}State& other) {
#pragma unroll
    for (int i = 0; i < N; ++i) sum[i] += other.sum[i];
  }

  // Loads in vectors of up to 16 bytes.
  template <typename T>
  __device__ void store(T* to) const {
    constexpr int kMost = device::kVecBytes / sizeof(T);
    constexpr int kVec = N < kMost ? N : kMost;
#pragma unroll
    for (int i = 0; i < N; i += kVec) {
      device::Vec<T, kVec> vec;
#pragma unroll
      for (int j = 0; j < kVec; ++j) vec[j] = device::Element<T>::from_float(sum[i + j]);
      device::store_l2(to + i, vec);
    }
  }
};

// The tensors of a launch. The rows of `input` are `pitch` elements apart, those of `output` and of
// `workspace` dim.
template <typename T, typename Out>
struct {{ title }}Work {
  const T* input;
  int64_t pitch;
  int64_t dim;
  Out* output;
  float* workspace;
};

// An item and a tile of columns a block, of (lanes, groups) threads. Pointers, pitch and dim are
// multiples of N.
template <int N, typename T, typename Out>
{% set bounds = "__global__ void __launch_bounds__(k" ~ title ~ "Threads)" %}
{% set head = title ~ "Kernel(const " ~ title ~ "Item* items, " ~ title ~ "Work<T, Out> work, int tiles) {" %}
{% if (bounds ~ head) | length < 100 %}
{{ bounds }} {{ head }}
{% else %}
{{ bounds }}
{{ cpp("    " ~ title ~ "Kernel(", ["const " ~ title ~ "Item* items", title ~ "Work<T, Out> work", "int tiles"], ") {") }}
{% endif %}
  using State = {{ title }}State<N>;
  __shared__ State states[k{{ title }}Threads];
  const int64_t column = (static_cast<int64_t>(blockIdx.x % tiles) * blockDim.x + threadIdx.x) * N;
  device::pdl_wait();
  device::pdl_trigger();
  const {{ title }}Item item = items[blockIdx.x / tiles];
  if (item.segment < 0) return;

  State state = {};
  const int groups = blockDim.y;
  const int step = k{{ title }}Depth * groups;
  const int stop = column < work.dim ? item.stop : item.start;
  for (int row = item.start + threadIdx.y; row < stop; row += step) {
    device::Vec<T, N> x[k{{ title }}Depth];
#pragma unroll
    for (int i = 0; i < k{{ title }}Depth; ++i) {
      const int64_t at = row + i * groups;
      if (at < stop) x[i] = device::load_l2<N>(work.input + at * work.pitch + column);
    }
#pragma unroll
    for (int i = 0; i < k{{ title }}Depth; ++i) {
      if (row + i * groups < stop) state.add(x[i]);
    }
  }

  // The upper half of the groups hands over to the lower one, until one is left.
  State* const mine = states + threadIdx.y * blockDim.x + threadIdx.x;
  for (int half = groups / 2; half > 0; half /= 2) {
    if (threadIdx.y >= half && threadIdx.y < 2 * half) *mine = state;
    __syncthreads();
    if (threadIdx.y < half) state.merge(mine[half * blockDim.x]);
  }
  if (threadIdx.y > 0 || column >= work.dim) return;
  if (item.partial < 0) {
    state.store(work.output + item.segment * work.dim + column);
  } else {
    state.store(work.workspace + item.partial * work.dim + column);
  }
}

template <int N, typename T, typename Out>
{{ cpp("cudaError_t Launch" ~ title ~ "Vecs(", ["device::LaunchConfig config", "const " ~ title ~ "Item* items", "int64_t count", "const " ~ title ~ "Work<T, Out>& work"], ") {") }}
  const int64_t vecs = device::ceil_div(work.dim, N);
  unsigned lanes = 1;
  while (lanes < vecs && lanes < k{{ title }}Lanes) lanes *= 2;
  const int64_t tiles = device::ceil_div(vecs, lanes);
  config.block = dim3(lanes, k{{ title }}Threads / lanes);
  config.grid = dim3(count * tiles);
{{ cpp("  return device::launch<" ~ title ~ "Kernel<N, T, Out>>(", ["config", "items", "work", "static_cast<int>(tiles)"], ");") }}
}

template <typename T, typename Out>
{{ cpp("cudaError_t Launch" ~ title ~ "(", ["const device::LaunchConfig& config", "const " ~ title ~ "Item* items", "int64_t count", "const " ~ title ~ "Work<T, Out>& work"], ") {") }}
  constexpr int N = device::kVecBytes / sizeof(T);
  const bool pointers_aligned = device::vec_aligned(work.input) &&
                                device::vec_aligned(work.output) &&
                                device::vec_aligned(work.workspace);
  if (pointers_aligned && work.dim % N == 0 && work.pitch % N == 0) {
    return Launch{{ title }}Vecs<N>(config, items, count, work);
  }
  return Launch{{ title }}Vecs<1>(config, items, count, work);
}

// The plan, in device memory: the items, then the merges of those with a partial sum.
struct {{ title }}Plan {
  const {{ title }}Item* items;
  int64_t item_count;
  int64_t merge_count;
};

// Strides in elements. `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename T>
{{ cpp("cudaError_t " ~ title ~ "(", ["const T* input", "const " ~ title ~ "Plan& plan", "T* output", "float* workspace", "int64_t dim", "int64_t pitch", "cudaStream_t stream = nullptr", "bool pdl = false"], ") {") }}
  if (plan.item_count == 0 || dim == 0) return cudaSuccess;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
{{ cpp("  const " ~ title ~ "Work<T, T> sum{", ["input", "pitch", "dim", "output", "workspace"], "};") }}
{{ cpp("  const " ~ title ~ "Work<float, T> merge{", ["workspace", "dim", "dim", "output", "workspace"], "};") }}
{% set status, call = "  const cudaError_t status =", "Launch" ~ title ~ "(config, plan.items, plan.item_count, sum);" %}
{% if (status ~ call) | length < 100 %}
{{ status }} {{ call }}
{% else %}
{{ status }}
      {{ call }}
{% endif %}
  if (status != cudaSuccess || plan.merge_count == 0) return status;
{{ cpp("  return Launch" ~ title ~ "(", ["config", "plan.items + plan.item_count", "plan.merge_count", "merge"], ");") }}
}

}  // namespace {{ project }}::{{ family }}
