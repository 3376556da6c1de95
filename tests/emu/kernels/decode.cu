// Attention of one query a request over a paged cache. A block takes one request and one key head,
// a warp one of the query heads that share it, so that keys and values are read once for all of
// them: by cp.async, two tiles of 32 tokens in turn. Sixteen lanes hold a query, eight elements
// each, and a warp looks at two tokens at a time, whose results it merges in the end.
//
// query, out [requests, heads, 128]; key, value [pages, page_size, kv_heads, 128];
// table [requests, table_pitch]: the pages of each request; lengths [requests]: its tokens.
#include <math.h>

#include "pipeline.cuh"

namespace {

constexpr int kHeadDim = 128;
constexpr int kTokens = 32;  // a tile
constexpr int kVec = 8;
constexpr int kLanes = kHeadDim / kVec;  // that hold one query
constexpr int kSets = 32 / kLanes;
constexpr int kMaxGroup = 8;  // query heads of a key head

template <typename T>
struct Cache {
  const T* key;
  const T* value;
  const int* table;
  const int* lengths;
  int kv_heads;
  int page_size;
  int table_pitch;
};

template <typename T>
struct Tile {
  alignas(16) T key[kTokens][kHeadDim];
  alignas(16) T value[kTokens][kHeadDim];
};

template <typename T>
__device__ void load_floats(float (&to)[kVec], const T* from) {
  const uint4 bits = *reinterpret_cast<const uint4*>(from);
  const T* values = reinterpret_cast<const T*>(&bits);
#pragma unroll
  for (int i = 0; i < kVec; ++i) to[i] = static_cast<float>(values[i]);
}

template <typename T>
__device__ void load_tile(Tile<T>& tile, const Cache<T>& cache, int first, int length) {
  const int request = blockIdx.y;
  const int thread = threadIdx.y * 32 + threadIdx.x;
  for (int i = thread; i < kTokens * kLanes; i += blockDim.y * 32) {
    const int row = i / kLanes;
    const int col = i % kLanes * kVec;
    const int token = first + row;
    int64_t at = 0;
    if (token < length) {
      const int page = cache.table[request * cache.table_pitch + token / cache.page_size];
      const int64_t slot = static_cast<int64_t>(page) * cache.page_size + token % cache.page_size;
      at = (slot * cache.kv_heads + blockIdx.x) * kHeadDim + col;
    }
    const int bytes = token < length ? pipeline::kChunk : 0;
    pipeline::copy_async(&tile.key[row][col], cache.key + at, bytes);
    pipeline::copy_async(&tile.value[row][col], cache.value + at, bytes);
  }
}

// Softmax so far, of the tokens that one set of lanes has seen.
struct Running {
  float largest = -INFINITY;
  float mass = 0.f;
  float out[kVec] = {};

  // Brings it to a new origin, which is not below any score so far.
  __device__ void rescale(float origin) {
    const float factor = largest == -INFINITY ? 0.f : pipeline::exp2_approx(largest - origin);
    largest = origin;
    mass *= factor;
#pragma unroll
    for (float& x : out) x *= factor;
  }

  template <typename T>
  __device__ void add(const Tile<T>& tile, const float (&query)[kVec], int tokens) {
    const int set = threadIdx.x / kLanes;
    const int col = threadIdx.x % kLanes * kVec;
    float score[kTokens / kSets];
    float origin = largest;
#pragma unroll
    for (int i = 0; i < kTokens / kSets; ++i) {
      float key[kVec];
      load_floats(key, &tile.key[i * kSets + set][col]);
      float dot = 0.f;
#pragma unroll
      for (int e = 0; e < kVec; ++e) dot = fmaf(query[e], key[e], dot);
#pragma unroll
      for (int lane = kLanes / 2; lane > 0; lane /= 2) {
        dot += __shfl_xor_sync(0xffffffff, dot, lane);
      }
      score[i] = i * kSets + set < tokens ? dot : -INFINITY;
      origin = fmaxf(origin, score[i]);
    }
    if (origin == -INFINITY) return;
    rescale(origin);
#pragma unroll
    for (int i = 0; i < kTokens / kSets; ++i) {
      const float weight = pipeline::exp2_approx(score[i] - origin);
      float value[kVec];
      load_floats(value, &tile.value[i * kSets + set][col]);
      mass += weight;
#pragma unroll
      for (int e = 0; e < kVec; ++e) out[e] = fmaf(weight, value[e], out[e]);
    }
  }

  // With the set of lanes `distance` away.
  __device__ void merge(int distance) {
    const float origin = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, distance));
    rescale(origin);
    mass += __shfl_xor_sync(0xffffffff, mass, distance);
#pragma unroll
    for (float& x : out) x += __shfl_xor_sync(0xffffffff, x, distance);
  }
};

template <typename T>
__global__ void __launch_bounds__(kMaxGroup * 32)
    DecodeKernel(const T* query, T* out, Cache<T> cache, float scale_log2) {
  __shared__ Tile<T> tiles[2];
  const int length = cache.lengths[blockIdx.y];
  const int64_t head =
      (static_cast<int64_t>(blockIdx.y) * gridDim.x + blockIdx.x) * blockDim.y + threadIdx.y;
  const int64_t at = head * kHeadDim + threadIdx.x % kLanes * kVec;
  float scaled[kVec];
  load_floats(scaled, query + at);
#pragma unroll
  for (float& x : scaled) x *= scale_log2;

  Running running;
  load_tile(tiles[0], cache, 0, length);
  pipeline::commit();
  for (int first = 0; first < length; first += kTokens) {
    const int current = first / kTokens % 2;
    if (first + kTokens < length) load_tile(tiles[1 - current], cache, first + kTokens, length);
    pipeline::commit();
    pipeline::wait<1>();
    __syncthreads();
    running.add(tiles[current], scaled, length - first);
    __syncthreads();
  }
#pragma unroll
  for (int distance = kLanes; distance < 32; distance *= 2) running.merge(distance);

  if (threadIdx.x >= kLanes) return;
  const float inverse = running.mass > 0.f ? __fdividef(1.f, running.mass) : 0.f;
  uint4 bits;
  T* result = reinterpret_cast<T*>(&bits);
#pragma unroll
  for (int e = 0; e < kVec; ++e) result[e] = static_cast<T>(running.out[e] * inverse);
  *reinterpret_cast<uint4*>(out + at) = bits;
}

template <typename T>
cudaError_t Decode(const void* query, void* out, const Cache<T>& cache, int requests, int heads,
                   float scale) {
  if (requests == 0 || heads == 0) return cudaSuccess;
  if (cache.kv_heads == 0 || heads % cache.kv_heads != 0) return cudaErrorInvalidValue;
  const int group = heads / cache.kv_heads;
  if (group > kMaxGroup) return cudaErrorInvalidValue;
  DecodeKernel<T><<<dim3(cache.kv_heads, requests), dim3(32, group)>>>(
      static_cast<const T*>(query), static_cast<T*>(out), cache, scale * 1.4426950408889634f);
  return cudaGetLastError();
}

}  // namespace

#define DECODE(name, T)                                                                      \
  extern "C" cudaError_t name(const void* query, const void* key, const void* value,         \
                              const int* table, const int* lengths, void* out, int requests, \
                              int heads, int kv_heads, int page_size, int table_pitch,       \
                              float scale) {                                                 \
    const Cache<T> cache = {static_cast<const T*>(key),                                      \
                            static_cast<const T*>(value),                                    \
                            table,                                                           \
                            lengths,                                                         \
                            kv_heads,                                                        \
                            page_size,                                                       \
                            table_pitch};                                                    \
    return Decode<T>(query, out, cache, requests, heads, scale);                             \
  }

DECODE(decode_float16, __half)
DECODE(decode_bfloat16, __nv_bfloat16)
