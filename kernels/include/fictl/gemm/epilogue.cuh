// Epilogues: functors that turn the sums of a GEMM into its outputs, before they are rounded.
//
// A kernel takes an epilogue by value, as a parameter:
//
//   struct MyEpilogue {
//     static constexpr int kColumnsPerOutput = 1;
//     __device__ float2 operator()(float2 sums, TileElement at) const;
//   };
//
// It is called once for every two neighbouring columns of a row of the product, with their sums in
// fp32 and with the place of the first, whose column is even, and returns the two outputs. The row
// and the first column exist. The second column may be the one beyond the last: its sum is a
// number without a meaning, its output is ignored, and the functor reads no memory for it.
// With kColumnsPerOutput == 2 the two columns become one output, x, in column at.column / 2.
#pragma once

#include <fictl/activation/functors.cuh>
#include <fictl/device/element.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::gemm {

struct TileElement {
  int batch;
  int row;
  int column;
};

// An activation of each column by itself.
template <typename Activation>
struct Pointwise {
  static constexpr int kColumnsPerOutput = 1;
  __device__ static float2 of(float2 x) { return {Activation::of(x.x), Activation::of(x.y)}; }
};

// Pairs of columns, a gate and what it lets through: swiglu is Gated<Silu>.
template <typename Activation>
struct Gated {
  static constexpr int kColumnsPerOutput = 2;
  __device__ static float2 of(float2 x) { return {Activation::of(x.x) * x.y, 0.0f}; }
};

// activation(alpha * sum + beta * C + bias), rounded once, by the kernel. C is [batch][m][n], of
// the outputs' type, and may be D itself; bias is [n]. Neither is read where the flag is false,
// whatever the pointer. Activation is Pointwise<...> or Gated<...>.
template <typename T, typename Out, typename Activation, bool kHasBias, bool kHasC>
struct DenseEpilogue {
  static constexpr int kColumnsPerOutput = Activation::kColumnsPerOutput;
  static constexpr bool kReadsC = kHasC;

  float alpha;
  float beta;
  const T* bias;
  const Out* c;
  int64_t c_row;
  int64_t c_batch;
  int n;               // columns of the product, and of C
  bool pairs_aligned;  // two columns of C, and of bias, are one aligned load: see pairs_aligned()

  __device__ float2 operator()(float2 sums, TileElement at) const {
    const bool both = at.column + 1 < n;
    float2 x = {alpha * sums.x, alpha * sums.y};
    if constexpr (kHasC) {
      const float2 more = pair(c + at.batch * c_batch + at.row * c_row + at.column, both);
      x = {x.x + beta * more.x, x.y + beta * more.y};
    }
    if constexpr (kHasBias) {
      const float2 more = pair(bias + at.column, both);
      x = {x.x + more.x, x.y + more.y};
    }
    return Activation::of(x);
  }

 private:
  template <typename U>
  __device__ float2 pair(const U* from, bool both) const {
    using Number = device::Element<U>;
    if (pairs_aligned && both) {
      auto two = device::load_l1<2>(from);
      return {Number::to_float(two[0]), Number::to_float(two[1])};
    }
    return {Number::to_float(from[0]), both ? Number::to_float(from[1]) : 0.0f};
  }
};

// Tells whether every even column of a matrix is aligned for a load of two elements.
template <typename U>
bool pairs_aligned(const U* from, int64_t row_stride, int64_t batch_stride) {
  return reinterpret_cast<uintptr_t>(from) % (2 * sizeof(U)) == 0 && row_stride % 2 == 0 &&
         batch_stride % 2 == 0;
}

}  // namespace fictl::gemm
