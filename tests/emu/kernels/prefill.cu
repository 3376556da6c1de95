// Attention of many queries over one sequence, as FlashAttention 2 does it: a block holds its
// queries in registers and walks over the keys in tiles of 64, of which cp.async brings the next
// while tensor cores work on the current one. Softmax is online and in registers: a row of scores
// lies in the four lanes that mma.sync puts it into.
//
// query, out [queries, heads, kHeadDim]; key, value [keys, kv_heads, kHeadDim]. Under the causal
// mask the last query sees the last key.
#include <math.h>

#include "pipeline.cuh"

namespace {

constexpr int kKeys = 64;      // a tile
constexpr int kWarpRows = 16;  // queries of a warp
constexpr int kVec = 8;        // elements of a chunk

struct Shape {
  int queries;
  int keys;
  int heads;
  int kv_heads;
  bool causal;
  float scale_log2;  // of the scores, for powers of two
};

template <typename T, int kHeadDim, int kRows>
struct Shared {
  alignas(128) T query[kRows * kHeadDim];
  alignas(128) T key[2][kKeys * kHeadDim];
  alignas(128) T value[2][kKeys * kHeadDim];
};

// Where a chunk lies in a tile: the eight rows that ldmatrix reads at a time fall into different
// banks, without padding.
template <int kHeadDim>
__device__ int place(int row, int chunk) {
  return row * kHeadDim + (chunk ^ row % 8) * kVec;
}

// Rows from `valid` on are zero.
template <int kHeadDim, int kRows, typename T>
__device__ void load_tile(T* tile, const T* from, int64_t pitch, int valid) {
  constexpr int kChunks = kHeadDim / kVec;
  for (int i = threadIdx.x; i < kRows * kChunks; i += blockDim.x) {
    const int row = i / kChunks;
    const int chunk = i % kChunks;
    const bool inside = row < valid;
    const T* source = inside ? from + row * pitch + chunk * kVec : from;
    pipeline::copy_async(tile + place<kHeadDim>(row, chunk), source, inside ? pipeline::kChunk : 0);
  }
}

__device__ inline float max_of_row(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffff, x, 2));
}

__device__ inline float sum_of_row(float x) {
  x += __shfl_xor_sync(0xffffffff, x, 1);
  return x + __shfl_xor_sync(0xffffffff, x, 2);
}

__device__ inline uint32_t pack(float x, float y, __half) {
  const __half2 pair = __floats2half2_rn(x, y);
  return *reinterpret_cast<const uint32_t*>(&pair);
}

__device__ inline uint32_t pack(float x, float y, __nv_bfloat16) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(x, y);
  return *reinterpret_cast<const uint32_t*>(&pair);
}

// What one warp knows of its sixteen queries. A lane has two of their rows: lane / 4 and eight
// below; of each, the columns lane % 4 * 2 and the next one of every eight.
template <typename T, int kHeadDim>
class Rows {
  static constexpr int kDepth = 16;  // columns of one mma.sync

 public:
  // `tile` holds the queries of the block.
  __device__ void load(const T* tile) {
    const int lane = threadIdx.x % 32;
    const int row = threadIdx.x / 32 * kWarpRows + lane % 16;
#pragma unroll
    for (int i = 0; i < kHeadDim / kDepth; ++i) {
      pipeline::load_matrices(query_[i], tile + place<kHeadDim>(row, i * 2 + lane / 16));
    }
  }

  __device__ void score(const T* keys) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < kKeys / 16; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) score_[j * 2][e] = score_[j * 2 + 1][e] = 0.f;
#pragma unroll
      for (int i = 0; i < kHeadDim / kDepth; ++i) {
        uint32_t key[4];
        const int row = j * 16 + lane / 16 * 8 + lane % 8;
        pipeline::load_matrices(key, keys + place<kHeadDim>(row, i * 2 + lane / 8 % 2));
        pipeline::Mma<T>::add(score_[j * 2], query_[i], key[0], key[1]);
        pipeline::Mma<T>::add(score_[j * 2 + 1], query_[i], key[2], key[3]);
      }
    }
  }

  // Leaves `visible` keys of this tile to the lane's upper row, and `more` to the one eight below.
  __device__ void mask(int visible, int more) {
    const int first = threadIdx.x % 4 * 2;
#pragma unroll
    for (int j = 0; j < kKeys / 8; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (j * 8 + first + e % 2 >= (e < 2 ? visible : more)) score_[j][e] = -INFINITY;
      }
    }
  }

  // Scores become weights, and what there was of the sums is brought to their scale.
  __device__ void soften(float scale_log2) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float largest = largest_[r];
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j) {
        largest = fmaxf(largest, fmaxf(score_[j][r * 2], score_[j][r * 2 + 1]));
      }
      largest = max_of_row(largest);
      // A row that has seen no key yet: any finite number will do.
      const float origin = largest == -INFINITY ? 0.f : largest * scale_log2;
      const float correction = pipeline::exp2_approx(largest_[r] * scale_log2 - origin);
      largest_[r] = largest;
      mass_[r] *= correction;
#pragma unroll
      for (int j = 0; j < kHeadDim / 8; ++j) {
        out_[j][r * 2] *= correction;
        out_[j][r * 2 + 1] *= correction;
      }
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j) {
#pragma unroll
        for (int e = r * 2; e < r * 2 + 2; ++e) {
          score_[j][e] = pipeline::exp2_approx(fmaf(score_[j][e], scale_log2, -origin));
          mass_[r] += score_[j][e];
        }
      }
    }
  }

  __device__ void add(const T* values) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kKeys / kDepth; ++i) {
      const auto &even = score_[i * 2], &odd = score_[i * 2 + 1];
      const uint32_t weight[4] = {pack(even[0], even[1], T()), pack(even[2], even[3], T()),
                                  pack(odd[0], odd[1], T()), pack(odd[2], odd[3], T())};
#pragma unroll
      for (int j = 0; j < kHeadDim / 16; ++j) {
        uint32_t value[4];
        const int row = i * kDepth + lane % 16;
        pipeline::load_transposed(value, values + place<kHeadDim>(row, j * 2 + lane / 16));
        pipeline::Mma<T>::add(out_[j * 2], weight, value[0], value[1]);
        pipeline::Mma<T>::add(out_[j * 2 + 1], weight, value[2], value[3]);
      }
    }
  }

  // Into the rows of `tile` that this warp's queries had.
  __device__ void store(T* tile) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float mass = sum_of_row(mass_[r]);
      const float inverse = mass > 0.f ? 1.f / mass : 0.f;
      const int row = threadIdx.x / 32 * kWarpRows + r * 8 + lane / 4;
#pragma unroll
      for (int j = 0; j < kHeadDim / 8; ++j) {
        T* to = tile + place<kHeadDim>(row, j) + lane % 4 * 2;
        *reinterpret_cast<uint32_t*>(to) =
            pack(out_[j][r * 2] * inverse, out_[j][r * 2 + 1] * inverse, T());
      }
    }
  }

 private:
  uint32_t query_[kHeadDim / kDepth][4];
  float score_[kKeys / 8][4];
  float out_[kHeadDim / 8][4] = {};
  float largest_[2] = {-INFINITY, -INFINITY};
  float mass_[2] = {};  // of the lane's own columns
};

template <typename T, int kHeadDim, int kRows>
__global__ void __launch_bounds__(kRows / kWarpRows * 32)
    PrefillKernel(const T* query, const T* key, const T* value, T* out, Shape shape) {
  extern __shared__ __align__(128) unsigned char dynamic_shared[];
  auto& shared = *reinterpret_cast<Shared<T, kHeadDim, kRows>*>(dynamic_shared);
  // The last queries see the most keys: first come, first served.
  const int first_query = (gridDim.x - 1 - blockIdx.x) * kRows;
  const int head = blockIdx.y;
  const int64_t pitch = static_cast<int64_t>(shape.heads) * kHeadDim;
  const int64_t kv_pitch = static_cast<int64_t>(shape.kv_heads) * kHeadDim;
  const int64_t offset = first_query * pitch + head * kHeadDim;
  const int kv_offset = head / (shape.heads / shape.kv_heads) * kHeadDim;
  // A query sees as many keys as its index and this.
  const int ahead = shape.causal ? shape.keys - shape.queries + 1 : shape.keys;
  const int seen = max(min(shape.keys, first_query + kRows - 1 + ahead), 0);
  const int tiles = (seen + kKeys - 1) / kKeys;

  auto load = [&](int tile) {
    const int first = tile * kKeys;
    const int64_t from = first * kv_pitch + kv_offset;
    load_tile<kHeadDim, kKeys>(shared.key[tile % 2], key + from, kv_pitch, shape.keys - first);
    load_tile<kHeadDim, kKeys>(shared.value[tile % 2], value + from, kv_pitch, shape.keys - first);
  };
  load_tile<kHeadDim, kRows>(shared.query, query + offset, pitch, shape.queries - first_query);
  if (tiles > 0) load(0);
  pipeline::commit();

  Rows<T, kHeadDim> rows;
  const int lane_query = first_query + threadIdx.x / 32 * kWarpRows + threadIdx.x % 32 / 4;
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) load(tile + 1);
    pipeline::commit();
    pipeline::wait<1>();
    __syncthreads();
    if (tile == 0) rows.load(shared.query);
    rows.score(shared.key[tile % 2]);
    const int left = shape.keys - tile * kKeys;
    const int visible = shape.causal ? lane_query + ahead - tile * kKeys : left;
    if (min(left, visible) < kKeys) rows.mask(min(left, visible), min(left, visible + 8));
    rows.soften(shape.scale_log2);
    rows.add(shared.value[tile % 2]);
    __syncthreads();
  }

  // A block that sees no key has its queries on their way to where the result goes.
  pipeline::wait<0>();
  __syncthreads();
  rows.store(shared.query);
  __syncthreads();
  constexpr int kChunks = kHeadDim / kVec;
  for (int i = threadIdx.x; i < kRows * kChunks; i += blockDim.x) {
    const int row = i / kChunks;
    const int chunk = i % kChunks;
    if (first_query + row < shape.queries) {
      *reinterpret_cast<uint4*>(out + offset + row * pitch + chunk * kVec) =
          *reinterpret_cast<const uint4*>(shared.query + place<kHeadDim>(row, chunk));
    }
  }
}

template <typename T, int kHeadDim, int kRows>
cudaError_t Prefill(const void* query, const void* key, const void* value, void* out,
                    const Shape& shape) {
  auto* kernel = PrefillKernel<T, kHeadDim, kRows>;
  constexpr int kBytes = sizeof(Shared<T, kHeadDim, kRows>);
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes) !=
      cudaSuccess) {
    return cudaGetLastError();
  }
  const dim3 grid((shape.queries + kRows - 1) / kRows, shape.heads);
  kernel<<<grid, kRows / kWarpRows * 32, kBytes>>>(
      static_cast<const T*>(query), static_cast<const T*>(key), static_cast<const T*>(value),
      static_cast<T*>(out), shape);
  return cudaGetLastError();
}

// As many rows as the registers allow.
template <typename T>
cudaError_t PrefillOf(int head_dim, const void* query, const void* key, const void* value,
                      void* out, const Shape& shape) {
  if (shape.queries == 0 || shape.heads == 0) return cudaSuccess;
  if (shape.kv_heads == 0 || shape.heads % shape.kv_heads != 0) return cudaErrorInvalidValue;
  if (head_dim == 64) return Prefill<T, 64, 128>(query, key, value, out, shape);
  if (head_dim == 128) return Prefill<T, 128, 64>(query, key, value, out, shape);
  return cudaErrorInvalidValue;
}

}  // namespace

#define PREFILL(name, T)                                                                        \
  extern "C" cudaError_t name(const void* query, const void* key, const void* value, void* out, \
                              int queries, int keys, int heads, int kv_heads, int head_dim,     \
                              int causal, float scale) {                                        \
    const Shape shape = {                                                                       \
        queries, keys, heads, kv_heads, causal != 0, scale * 1.4426950408889634f};              \
    return PrefillOf<T>(head_dim, query, key, value, out, shape);                               \
  }

PREFILL(prefill_float16, __half)
PREFILL(prefill_bfloat16, __nv_bfloat16)
