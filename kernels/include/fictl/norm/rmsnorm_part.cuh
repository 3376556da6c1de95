// The arguments of the kernels of rmsnorm, and the part of a row that a thread holds from its loads
// to its stores.
#pragma once

#include <type_traits>

#include <fictl/device/convert.cuh>
#include <fictl/device/element_fp8.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::norm {

// Strides in elements: between the rows of a group, and between groups.
struct RMSNormPitch {
  int64_t row;
  int64_t group;
};

// Rows in groups, as heads in tokens; rows at one stride are one group.
struct RMSNormShape {
  unsigned rows;  // below 2^31
  int64_t hidden;
  unsigned rows_per_group;
  RMSNormPitch input;
  RMSNormPitch output;
  RMSNormPitch residual = {};
};

// An output of 8 bits. Why not e4m3 and e5m2 as types: they differ in one instruction, and every
// kernel would be compiled for both.
struct Fp8 {
  uint8_t bits;
};

// Out is T or Fp8.
template <typename T, typename Out = T>
struct RMSNormTensors {
  const T* input;
  const T* weight;  // [hidden]
  Out* output;
  T* residual = nullptr;     // if given, it is added to the input, and becomes their sum
  float weight_bias = 0.0f;  // added to every weight
  float eps = 1e-6f;
  const float* scale = nullptr;  // of Fp8: one number, which the results are divided by
  bool e5m2 = false;             // of Fp8: this format, not e4m3
};

// A row by the index of its group and its index in the group.
struct RMSNormRow {
  unsigned group;
  unsigned row;

  // Why the case apart: a division by what only the launch knows takes as long as a barrier.
  __device__ RMSNormRow(unsigned index, unsigned rows_per_group)
      : group(index < rows_per_group ? 0 : index / rows_per_group),
        row(index - group * rows_per_group) {}

  __device__ int64_t start(const RMSNormPitch& pitch) const {
    return group * pitch.group + row * pitch.row;
  }
};

// The tensors from one row on.
template <typename T, typename Out>
__device__ RMSNormTensors<T, Out> from_row(RMSNormTensors<T, Out> tensors,
                                           const RMSNormShape& shape, unsigned index) {
  const RMSNormRow row(index, shape.rows_per_group);
  tensors.input += row.start(shape.input);
  tensors.output += row.start(shape.output);
  tensors.residual += row.start(shape.residual);
  return tensors;
}

// The tensors of a row, from one of its elements on.
template <typename T, typename Out>
__device__ RMSNormTensors<T, Out> from_element(RMSNormTensors<T, Out> row, int64_t at) {
  row.input += at;
  row.weight += at;
  row.output += at;
  row.residual += at;
  return row;
}

// Keeps values from being used before all loads are issued. Why a barrier: ptxas moves loads behind
// the arithmetic of earlier ones, and the latency of memory is paid for each.
__device__ inline void issue_loads() { __syncwarp(); }

// N elements of a row, plus those of the residual if it kAdds them. They wait for the row's sum as
// they were loaded, in half the registers that fp32 takes; added up again they are the same.
template <typename T, int N, bool kAdds>
class RMSNormVec {
 public:
  using Vec = device::Vec<T, N>;

  template <typename Tensors>
  __device__ void load(const Tensors& row, int64_t at) {
    input_ = device::load_l2<N>(row.input + at);
    if constexpr (kAdds) residual_ = device::load_l2<N>(row.residual + at);
  }

  __device__ float squares() const {
    float x[N];
    values(x);
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < N; ++i) sum += x[i] * x[i];
    return sum;
  }

  // Writes the sum to the residual.
  template <typename Tensors>
  __device__ void store_residual(const Tensors& row, int64_t at) const {
    if constexpr (kAdds) {
      float x[N];
      values(x);
      device::store_l2(row.residual + at, device::from_float<T>(x));
    }
  }

  template <typename Out>
  __device__ void store(const RMSNormTensors<T, Out>& row, int64_t at, Vec weights, float factor) {
    device::keep_packed(input_);
    if constexpr (kAdds) device::keep_packed(residual_);
    device::keep_packed(weights);
    float x[N], weight[N];
    values(x);
    device::to_float(weights, weight);
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] = x[i] * factor * (weight[i] + row.weight_bias);
    store(row.output + at, x, row);
  }

 private:
  __device__ void values(float (&x)[N]) const {
    device::to_float(input_, x);
    if constexpr (kAdds) {
      float added[N];
      device::to_float(residual_, added);
#pragma unroll
      for (int i = 0; i < N; ++i) x[i] += added[i];
    }
  }

  template <typename Tensors>
  __device__ static void store(T* to, const float (&x)[N], const Tensors&) {
    device::store_l2(to, device::from_float<T>(x));
  }

  template <typename Tensors>
  __device__ static void store(Fp8* to, const float (&x)[N], const Tensors& tensors) {
    if (tensors.e5m2) {
      device::store_l2(reinterpret_cast<__nv_fp8_e5m2*>(to), device::from_float<__nv_fp8_e5m2>(x));
    } else {
      device::store_l2(reinterpret_cast<__nv_fp8_e4m3*>(to), device::from_float<__nv_fp8_e4m3>(x));
    }
  }

  struct Nothing {};

  Vec input_;
  std::conditional_t<kAdds, Vec, Nothing> residual_;
};

// kVecs of them: every `step` elements from `first` on, as far as the row goes, and their weights.
template <typename T, int N, bool kAdds, int kVecs>
class RMSNormPart {
 public:
  __device__ RMSNormPart(int first, int step, int size) : first_(first), step_(step), size_(size) {}

  template <typename Tensors>
  __device__ void load(const Tensors& row) {
    each([&](int i, int at) { vecs_[i].load(row, at); });
  }

  __device__ void load_weights(const T* from) {
    each([&](int i, int at) { weights_[i] = device::load_l1<N>(from + at); });
  }

  // Adds adjacent ones first, as warp_sum does with lanes.
  __device__ float squares() const {
    float sums[kVecs] = {};
    each([&](int i, int) { sums[i] = vecs_[i].squares(); });
#pragma unroll
    for (int gap = 1; gap < kVecs; gap *= 2) {
#pragma unroll
      for (int i = 0; i < kVecs; i += 2 * gap) sums[i] += sums[i + gap];
    }
    return sums[0];
  }

  template <typename Tensors>
  __device__ void store_residual(const Tensors& row) const {
    each([&](int i, int at) { vecs_[i].store_residual(row, at); });
  }

  template <typename Tensors>
  __device__ void store(const Tensors& row, float factor) {
    each([&](int i, int at) { vecs_[i].store(row, at, weights_[i], factor); });
  }

 private:
  // Calls body(i, start of vector i) for every vector of this thread.
  template <typename Body>
  __device__ void each(Body body) const {
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int at = first_ + i * step_;
      if (at < size_) body(i, at);
    }
  }

  int first_;
  int step_;
  int size_;
  RMSNormVec<T, N, kAdds> vecs_[kVecs];
  device::Vec<T, N> weights_[kVecs];
};

// The factor of all values of a row: 1 / sqrt(mean of the squares + eps), over the scale of an
// 8-bit output, which is loaded before the sum of the squares is known.
template <typename T, typename Out>
class RMSNormFactor {
 public:
  __device__ RMSNormFactor(const RMSNormTensors<T, Out>& tensors, float inverse_hidden)
      : inverse_hidden_(inverse_hidden), eps_(tensors.eps) {
    if constexpr (!std::is_same_v<T, Out>) scale_ = __ldca(tensors.scale);
  }

  __device__ float operator()(float squares) const {
    return rsqrtf(squares * inverse_hidden_ + eps_) / scale_;
  }

 private:
  float inverse_hidden_;
  float eps_;
  float scale_ = 1.0f;
};

}  // namespace fictl::norm
