// append_fp4: quantizes the keys and values of new tokens, or the two parts of MLA's latent keys,
// to their slots of a paged cache: nvfp4, and e4m3 for MLA's rotated keys.
//
// Algorithm: a thread has a block of 16 adjacent values: it alone finds their largest and so their
// scale, and no thread waits for another.
//
// Traffic: 32 bytes of 16-bit values are read once; 8 bytes of packed values and one of scale are
// written once. Adjacent threads have adjacent blocks, so that a warp reads 1 KB of a token's rows
// in one piece. Reads are past what is written by a factor of 3.5: they are the limit, and their
// latency where tokens are few.
//
// Tiling: a thread quantizes the same block of a token's two rows, key and value. Where they go
// takes three loads that depend on each other, or one with a slot mapping; the 64 bytes of data are
// on their way by then. A token without a place, a negative request or slot, or a slot beyond the
// cache, is padding, of which nothing is written.
#pragma once

#include <fictl/device/launch.cuh>
#include <fictl/device/paged.cuh>
#include <fictl/device/row_units.cuh>
#include <fictl/quantization/kv_fp4.cuh>

namespace fictl::page {

constexpr int kAppendFp4Threads = 128;
constexpr int kFp4Block = quantization::kPartValues;

using AppendFp4Tokens = device::RowUnits<1>;
using quantization::KvGlobal;

// The rows of all tokens; strides in elements.
template <typename T>
struct TokenRows {
  const T* data;
  int64_t token_pitch;
  int64_t head_pitch;
  int heads;
  int blocks;  // of 16 values, of a head

  bool aligned() const {
    constexpr int kN = device::kVecBytes / sizeof(T);
    return device::vec_aligned(data) && token_pitch % kN == 0 && head_pitch % kN == 0;
  }
};

template <int kBytes>
bool rows_aligned(const device::PagedRows<uint8_t>& rows) {
  return (reinterpret_cast<int64_t>(rows.data) | rows.page_pitch | rows.slot_pitch |
          rows.head_pitch) %
             kBytes ==
         0;
}

// The part of such rows that a thread has: one block.
template <typename T>
class TokenBlocks {
 public:
  using Held = quantization::BlockPart<T>;

  explicit TokenBlocks(const TokenRows<T>& rows)
      : rows_(rows), blocks_(rows.blocks > 0 ? rows.blocks : 1), aligned_(rows.aligned()) {}

  __host__ __device__ int units() const { return rows_.heads * rows_.blocks; }
  __device__ device::Divisor::Result at(int unit) const { return blocks_.divide(unit); }

  __device__ Held load(int64_t token, int unit) const {
    const auto [head, block] = at(unit);
    Held held;
    held.load(rows_.data + token * rows_.token_pitch + head * rows_.head_pitch +
                  int64_t{block} * kFp4Block,
              unit < units(), aligned_);
    return held;
  }

 private:
  TokenRows<T> rows_;
  device::Divisor blocks_;
  bool aligned_;
};

// Rows that become e2m1 and their scales.
template <typename T>
class ToFp4 : public TokenBlocks<T> {
 public:
  ToFp4(const TokenRows<T>& from, const device::PagedRows<uint8_t>& packed,
        const device::PagedRows<uint8_t>& scales, const KvGlobal& global)
      : TokenBlocks<T>(from),
        packed_(packed),
        scales_(scales),
        global_(global),
        aligned_(rows_aligned<quantization::Fp4::kPartBytes>(packed)) {}

  __device__ void store(device::PageSlot slot, int unit,
                        const quantization::BlockPart<T>& held) const {
    if (unit >= this->units()) return;
    const auto [head, block] = this->at(unit);
    const quantization::BlockScale scale = quantization::KvScale(global_.get())(held.largest());
    float x[kFp4Block];
    held.to_float(x);
    quantization::store_part(
        packed_.row(slot, head) + int64_t{block} * quantization::Fp4::kPartBytes,
        quantization::Fp4::pack(x, scale.factor), aligned_);
    scales_.row(slot, head)[block] = scale.byte;
  }

 private:
  device::PagedRows<uint8_t> packed_;
  device::PagedRows<uint8_t> scales_;
  KvGlobal global_;
  bool aligned_;
};

// Rows that become e4m3, divided by one scale.
template <typename T>
class ToFp8 : public TokenBlocks<T> {
 public:
  ToFp8(const TokenRows<T>& from, const device::PagedRows<uint8_t>& to, const KvGlobal& global)
      : TokenBlocks<T>(from), to_(to), global_(global), aligned_(rows_aligned<kFp4Block>(to)) {}

  __device__ void store(device::PageSlot slot, int unit,
                        const quantization::BlockPart<T>& held) const {
    if (unit >= this->units()) return;
    const auto [head, block] = this->at(unit);
    float x[kFp4Block];
    held.to_float(x);
    const float global = global_.get();
    const float factor = global > 0.0f && global <= FLT_MAX ? 1.0f / global : nanf("");
    quantization::store_part(to_.row(slot, head) + int64_t{block} * kFp4Block,
                             quantization::MxFp8::pack(x, factor), aligned_);
  }

 private:
  device::PagedRows<uint8_t> to_;
  KvGlobal global_;
  bool aligned_;
};

struct Place {
  bool exists;
  device::PageSlot slot;
};

// Where a token goes by its request and its position there.
struct ByPosition {
  device::PageTable table;
  device::Indices requests;
  device::Indices positions;

  __device__ Place find(int64_t token) const {
    const int request = requests[token];
    if (request < 0) return {};
    return {true, table.find(request, positions[token])};
  }
};

// Where it goes by the number of its slot among all slots of the cache; `step` in elements.
struct BySlot {
  const void* slots;
  int64_t step;
  bool wide;  // int64
  int count;  // of the cache
  device::Divisor page_size{1};

  __device__ Place find(int64_t token) const {
    const int64_t slot = wide ? static_cast<const int64_t*>(slots)[token * step]
                              : static_cast<const int32_t*>(slots)[token * step];
    if (slot < 0 || slot >= count) return {};
    const device::Divisor::Result at = page_size.divide(static_cast<int>(slot));
    return {true, {at.quotient, at.remainder}};
  }
};

template <typename First, typename Second, typename Where>
__global__ void __launch_bounds__(kAppendFp4Threads)
    AppendFp4Kernel(First first, Second second, Where where, AppendFp4Tokens tokens) {
  const AppendFp4Tokens::Unit at = tokens.mine(0);
  if (!at.exists) return;
  device::pdl_wait();
  device::pdl_trigger();
  const auto a = first.load(at.row, at.unit);
  const auto b = second.load(at.row, at.unit);
  const Place place = where.find(at.row);
  if (!place.exists) return;
  first.store(place.slot, at.unit, a);
  second.store(place.slot, at.unit, b);
}

// `pdl`: use programmatic dependent launch where the GPU supports it.
template <typename First, typename Second, typename Where>
cudaError_t AppendFp4(const First& first, const Second& second, const Where& where, int64_t tokens,
                      cudaStream_t stream = nullptr, bool pdl = false) {
  const int units = first.units() > second.units() ? first.units() : second.units();
  if (tokens == 0 || units == 0) return cudaSuccess;
  const AppendFp4Tokens rows(tokens, units, kAppendFp4Threads);
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  config.grid = rows.grid();
  config.block = rows.block();
  return device::launch<AppendFp4Kernel<First, Second, Where>>(config, first, second, where, rows);
}

}  // namespace fictl::page
