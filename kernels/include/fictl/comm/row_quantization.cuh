// Quantization of a row that the threads of a cluster hold, right behind its norm.
//
//   fp8 of a tensor   e4m3(x / scale), by one scale that is given
//   fp8 of a token    e4m3(x / scale), scale = max(largest / 448, 1 / (448 * 512)), written as fp32
//   fp8 of groups     e4m3(x / scale) of groups of a row, the scale the least power of two that is
//                     no less than largest / 448; four exponents a word, words in columns
//   fp4               e2m1 of blocks of 16, with scales of e4m3: nvfp4, as
//   quantization/block_scaled
//
// x are the rounded values of the norm, so that they are those that it may write besides.
#pragma once

#include <fictl/comm/cluster_reduce.cuh>
#include <fictl/device/convert.cuh>
#include <fictl/quantization/block_scaled.cuh>
#include <fictl/quantization/fp8.cuh>

namespace fictl::comm {

enum class Quantizes { kNothing, kTensor, kToken, kGroups, kFp4 };

struct RowQuantization {
  Quantizes kind = Quantizes::kNothing;
  uint8_t* output = nullptr;
  void* scales = nullptr;
  const float* scale = nullptr;  // of a tensor; of fp4 what its scales are multiplied by
  int group_lanes = 0;           // of groups: the vectors of one, a power of two up to 32
  int64_t column = 0;            // of groups: words from column to column
  quantization::ScaleMatrix blocks{quantization::ScaleLayout::kLinear, 0, 0};  // of fp4

  static constexpr float kMost = 448.0f;
  static constexpr float kLeastOfToken = 1.0f / (kMost * 512.0f);
  static constexpr int kScalesOfWord = 4;
};

// The quantization of vectors of type T, kVecs a thread.
template <typename T, typename Reduce>
class RowQuantizer {
 public:
  static constexpr int N = 16 / sizeof(T);

  __device__ RowQuantizer(const RowQuantization& wanted, Reduce& reduce)
      : wanted_(wanted), reduce_(reduce) {
    if (wanted_.scale != nullptr) scale_ = __ldca(wanted_.scale);
  }

  // Called by all threads of the cluster. Vectors that the row does not have are zeros, and
  // has(i) is false of them; `in_row(i)` is the place of vector i.
  template <int kVecs, typename InRow, typename Has>
  __device__ void operator()(int64_t row, int row_vecs, const device::Vec<T, N> (&vecs)[kVecs],
                             InRow in_row, Has has) const {
    float token_scale = 1.0f;
    if (wanted_.kind == Quantizes::kToken) token_scale = scale_of_token(row, vecs);
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int vec = in_row(i);
      float x[N];
      device::to_float(vecs[i], x);
      const int64_t at = row * row_vecs + vec;
      if (wanted_.kind == Quantizes::kTensor) {
        store_fp8(x, 1.0f / scale_, at, has(i));
      } else if (wanted_.kind == Quantizes::kToken) {
#pragma unroll
        for (int j = 0; j < N; ++j) x[j] /= token_scale;
        store_fp8(x, 1.0f, at, has(i));
      } else if (wanted_.kind == Quantizes::kGroups) {
        groups(x, row, row_vecs, vec, at, has(i));
      } else if constexpr (sizeof(T) == 2) {
        fp4(x, row, row_vecs, vec, at, has(i));
      }
    }
  }

  // Writes zeros to the scales of rows that only the tiles of fp4's layouts have.
  __device__ static void pad(const RowQuantization& wanted, int64_t rows) {
    if (wanted.kind != Quantizes::kFp4) return;
    const int64_t cols = wanted.blocks.cols();
    const int64_t padded = (wanted.blocks.rows() - rows) * cols;
    const int64_t threads = int64_t{gridDim.x} * blockDim.x;
    for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < padded; i += threads) {
      const int row = static_cast<int>(rows + i / cols);
      static_cast<uint8_t*>(wanted.scales)[wanted.blocks.at(row, static_cast<int>(i % cols))] = 0;
    }
  }

 private:
  __device__ static float largest(const float (&x)[N]) {
    float most = 0.0f;
#pragma unroll
    for (int i = 0; i < N; ++i) most = device::Max()(most, fabsf(x[i]));
    return most;
  }

  template <int kVecs>
  __device__ float scale_of_token(int64_t row, const device::Vec<T, N> (&vecs)[kVecs]) const {
    float most = 0.0f;
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      float x[N];
      device::to_float(vecs[i], x);
      most = device::Max()(most, largest(x));
    }
    most = reduce_(device::Max(), most);
    const float scale =
        device::Max()(most / RowQuantization::kMost, RowQuantization::kLeastOfToken);
    if (threadIdx.x == 0 && Reduce::Grid::rank() == 0) {
      static_cast<float*>(wanted_.scales)[row] = scale;
    }
    return scale;
  }

  __device__ void store_fp8(const float (&x)[N], float factor, int64_t at, bool has) const {
    float scaled[N];
#pragma unroll
    for (int i = 0; i < N; ++i) scaled[i] = x[i] * factor;
    auto* output = reinterpret_cast<__nv_fp8_e4m3*>(wanted_.output);
    if (has) device::store_l2(output + at * N, device::from_float<__nv_fp8_e4m3>(scaled));
  }

  // Writes a scale as its exponent, and behind a row's last one those that fill its word.
  __device__ void groups(const float (&x)[N], int64_t row, int row_vecs, int vec, int64_t at,
                         bool has) const {
    constexpr int kWord = RowQuantization::kScalesOfWord;
    const int lanes = wanted_.group_lanes;
    const float most = device::warp_reduce(device::Max(), largest(x), lanes);
    const float scale = quantization::power_of_two_above(most / RowQuantization::kMost);
    store_fp8(x, 1.0f / scale, at, has);
    if (!has || vec % lanes != 0) return;
    const int group = vec / lanes;
    const int groups = row_vecs / lanes;
    const auto put = [&](int of, uint8_t byte) {
      const int64_t word = of / kWord * wanted_.column + row;
      static_cast<uint8_t*>(wanted_.scales)[word * kWord + of % kWord] = byte;
    };
    put(group, static_cast<uint8_t>(__float_as_uint(scale) >> 23));
    if (group != groups - 1) return;
    for (int of = groups; of % kWord != 0; ++of) put(of, 0);
  }

  __device__ void fp4(const float (&x)[N], int64_t row, int row_vecs, int vec, int64_t at,
                      bool has) const {
    constexpr int kThreadsOfBlock = quantization::NvFp4::kBlock / N;
    const float most = device::warp_reduce(device::Max(), largest(x), kThreadsOfBlock);
    const quantization::BlockScale scale = quantization::NvFp4::Scale(scale_)(most);
    if (!has) return;
    reinterpret_cast<uint32_t*>(wanted_.output)[at] = device::to_e2m1(x, scale.factor);
    if (vec % kThreadsOfBlock != 0) return;
    const int block = vec / kThreadsOfBlock;
    auto* scales = static_cast<uint8_t*>(wanted_.scales);
    const int line = static_cast<int>(row);
    scales[wanted_.blocks.at(line, block)] = scale.byte;
    if (block != row_vecs / kThreadsOfBlock - 1) return;
    for (int of = block + 1; of < wanted_.blocks.cols(); ++of) {
      scales[wanted_.blocks.at(line, of)] = 0;
    }
  }

  const RowQuantization& wanted_;
  Reduce& reduce_;
  float scale_ = 1.0f;
};

}  // namespace fictl::comm
