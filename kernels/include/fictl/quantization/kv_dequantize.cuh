// Converts nvfp4 of KV caches to 16 bits: e2m1 * scale, which is exact in fp32, times the global
// scale, rounded there and then to 16 bits. From rows of one matrix, or from the pages of requests
// into rows of their positions.
//
// Algorithm: a thread has a block of 16 values, whose scale it reads alone.
//
// Traffic: 9 bytes are read and 32 written a block, so that stores decide: two of 16 bytes,
// adjacent ones by adjacent threads. The lookup of a page is one load that the threads of a row
// share.
//
// Tiling: the blocks of a token's keys, then those of its values, lie along threads, whole tokens
// in a block of threads or a part of one.
#pragma once

#include <fictl/device/launch.cuh>
#include <fictl/device/paged.cuh>
#include <fictl/device/row_units.cuh>
#include <fictl/quantization/kv_fp4.cuh>

namespace fictl::quantization {

constexpr int kKvDequantizeThreads = 128;

using KvDequantizeRows = device::RowUnits<1>;

// Writes 16 values; `from` are their 8 bytes.
template <typename T>
__device__ void dequantize_block(const uint8_t* from, uint8_t scale, float global, T* to,
                                 bool aligned) {
  uint2 packed = make_uint2(0, 0);
  if (aligned) {
    packed = __ldcs(reinterpret_cast<const uint2*>(from));
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      packed.x |= static_cast<uint32_t>(from[i]) << (8 * i);
      packed.y |= static_cast<uint32_t>(from[4 + i]) << (8 * i);
    }
  }
  __nv_fp8_e4m3 byte;
  byte.__x = scale;
  const float of_block = device::Element<__nv_fp8_e4m3>::to_float(byte);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint32_t codes = half == 0 ? packed.x : packed.y;
    float x[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = device::from_e2m1(codes >> (4 * i)) * of_block * global;
    auto vec = device::from_float<T>(x);
    if (aligned) {
      device::store_l2(to + 8 * half, vec);
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) to[8 * half + i] = vec[i];
    }
  }
}

// Rows of a matrix; pitches in elements.
template <typename T>
struct KvMatrix {
  const uint8_t* packed;
  const uint8_t* scales;
  const float* global;
  T* to;
  int64_t packed_pitch;
  int64_t scales_pitch;
  int64_t to_pitch;
  bool aligned;
};

template <typename T>
__global__ void __launch_bounds__(kKvDequantizeThreads)
    KvDequantizeKernel(KvMatrix<T> x, KvDequantizeRows rows) {
  const KvDequantizeRows::Unit at = rows.mine(0);
  if (!at.exists) return;
  device::pdl_wait();
  device::pdl_trigger();
  dequantize_block(x.packed + at.row * x.packed_pitch + int64_t{at.unit} * Fp4::kPartBytes,
                   x.scales[at.row * x.scales_pitch + at.unit], __ldca(x.global),
                   x.to + at.row * x.to_pitch + int64_t{at.unit} * kPartValues, x.aligned);
}

// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename T>
cudaError_t KvDequantize(KvMatrix<T> x, int64_t rows, int blocks, cudaStream_t stream = nullptr,
                         bool pdl = false) {
  if (rows == 0 || blocks == 0) return cudaSuccess;
  constexpr int64_t kN = device::kVecBytes / sizeof(T);
  x.aligned = (reinterpret_cast<int64_t>(x.packed) | x.packed_pitch) % Fp4::kPartBytes == 0 &&
              device::vec_aligned(x.to) && x.to_pitch % kN == 0;
  const KvDequantizeRows tiles(rows, blocks, kKvDequantizeThreads);
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  config.grid = tiles.grid();
  config.block = tiles.block();
  return device::launch<KvDequantizeKernel<T>>(config, x, tiles);
}

// The pages of requests: a row of pages each; pitches in int32.
struct BlockTables {
  const int32_t* data;
  int64_t request_pitch;
  int64_t step;
  int64_t pages;  // of the cache

  __device__ int64_t find(int request, int page) const {
    return data[request * request_pitch + page * step];
  }
};

// The keys or the values of a cache, and where they go; pitches in elements.
template <typename T>
struct PagedKv {
  device::PagedRows<const uint8_t> packed;
  device::PagedRows<const uint8_t> scales;
  const float* global;
  T* to;
  int64_t request_pitch;
  int64_t token_pitch;
  int64_t head_pitch;
  device::Divisor blocks{1};  // of a head
  int units;                  // of a token
  bool aligned = false;

  void align() {
    constexpr int64_t kN = device::kVecBytes / sizeof(T);
    const int64_t from = reinterpret_cast<int64_t>(packed.data) | packed.page_pitch |
                         packed.slot_pitch | packed.head_pitch;
    aligned = from % Fp4::kPartBytes == 0 && device::vec_aligned(to) &&
              (request_pitch | token_pitch | head_pitch) % kN == 0;
  }

  __device__ void dequantize(device::PageSlot slot, int request, int position, int unit) const {
    const auto [head, block] = blocks.divide(unit);
    dequantize_block(packed.row(slot, head) + int64_t{block} * Fp4::kPartBytes,
                     scales.row(slot, head)[block], __ldca(global),
                     to + request * request_pitch + position * token_pitch + head * head_pitch +
                         int64_t{block} * kPartValues,
                     aligned);
  }
};

// A unit is a block of a token's keys, then of its values. A row without a page is left as it is.
template <typename T>
__global__ void __launch_bounds__(kKvDequantizeThreads)
    KvDequantizePagedKernel(PagedKv<T> keys, PagedKv<T> values, BlockTables tables,
                            device::Indices lengths, device::Divisor positions,
                            device::Divisor page_size, KvDequantizeRows tokens) {
  const KvDequantizeRows::Unit at = tokens.mine(0);
  if (!at.exists) return;
  const auto [request, position] = positions.divide(static_cast<int>(at.row));
  device::pdl_wait();
  device::pdl_trigger();
  if (position >= lengths[request]) return;
  const auto [page, slot] = page_size.divide(position);
  const int64_t found = tables.find(request, page);
  if (found < 0 || found >= tables.pages) return;
  const device::PageSlot from{found, slot};
  if (at.unit < keys.units) {
    keys.dequantize(from, request, position, at.unit);
  } else {
    values.dequantize(from, request, position, at.unit - keys.units);
  }
}

// lengths: [requests]. `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename T>
cudaError_t KvDequantizePaged(PagedKv<T> keys, PagedKv<T> values, const BlockTables& tables,
                              device::Indices lengths, int requests, int positions, int page_size,
                              cudaStream_t stream = nullptr, bool pdl = false) {
  const int units = keys.units + values.units;
  if (requests == 0 || positions == 0 || units == 0) return cudaSuccess;
  keys.align();
  values.align();
  const KvDequantizeRows tokens(int64_t{requests} * positions, units, kKvDequantizeThreads);
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  config.grid = tokens.grid();
  config.block = tokens.block();
  return device::launch<KvDequantizePagedKernel<T>>(config, keys, values, tables, lengths,
                                                    device::Divisor(positions),
                                                    device::Divisor(page_size), tokens);
}

}  // namespace fictl::quantization
