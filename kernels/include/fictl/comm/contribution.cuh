// Contribution of a rank to the rows of a fused all-reduce: its input, or results of its experts.
//
//   input     row t of the input
//   reduce    sum over e of scales[e, t] * experts[e, t], plus row t of the input
//   finalize  factor * sum over k of scales[t, k] * experts[places[t, k]], plus row t of the input,
//             if given: the output of shared experts. A place below 0 adds nothing.
//
// Sums are fp32, in the order of the experts, and are rounded once.
#pragma once

#include <fictl/comm/row_exchange.cuh>

namespace fictl::comm {

enum class Adds { kInput, kReduced, kFinalized };

template <typename T>
struct Contribution {
  static constexpr int N = kPieceBytes / sizeof(T);

  Adds adds = Adds::kInput;
  const T* input = nullptr;
  int hidden = 0;
  int64_t rows = 0;
  // Experts, where adds is not kInput:
  const T* experts = nullptr;
  int count = 0;                  // experts of this rank, or those of a token
  const void* scales = nullptr;   // null: 1
  bool scales_are_floats = true;  // or of type T
  const int32_t* places = nullptr;
  float factor = 1.0f;

  __device__ uint4 load(int row, int at) const {
    const int64_t first = int64_t{at} * N;
    if (adds == Adds::kInput) return device::load_l2<N>(input + first).bits();
    const int64_t in_row = first - int64_t{row} * hidden;
    float sum[N] = {};
    for (int i = 0; i < count; ++i) {
      const int64_t scale_at = adds == Adds::kReduced ? i * rows + row : int64_t{row} * count + i;
      const int64_t from = adds == Adds::kReduced ? scale_at : places[scale_at];
      if (from < 0) continue;
      add(sum, device::load_l2<N>(experts + from * hidden + in_row), scale(scale_at));
    }
    if (adds == Adds::kFinalized) {
#pragma unroll
      for (int i = 0; i < N; ++i) sum[i] *= factor;
    }
    if (input != nullptr) add(sum, device::load_l2<N>(input + first), 1.0f);
    return device::from_float<T>(sum).bits();
  }

 private:
  __device__ static void add(float (&sum)[N], const Piece<T>& piece, float scale) {
    float x[N];
    device::to_float(piece, x);
#pragma unroll
    for (int i = 0; i < N; ++i) sum[i] = fmaf(x[i], scale, sum[i]);
  }

  __device__ float scale(int64_t at) const {
    if (scales == nullptr) return 1.0f;
    if (scales_are_floats) return static_cast<const float*>(scales)[at];
    return device::Element<T>::to_float(static_cast<const T*>(scales)[at]);
  }
};

}  // namespace fictl::comm
