// Functions of one number that CUDA lacks, in fp32 or fp64: `F` is one of the two.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cuda_runtime.h>

namespace fictl::device {

template <typename F>
__host__ __device__ F square(F x) {
  return x * x;
}

// In fp32 by the instruction for powers of two, to some 1e-6 where |x| < 16: a kernel that calls
// the exact one for every 16-bit element waits for arithmetic, not for memory.
__host__ __device__ inline float fast_exp(float x) {
#ifdef __CUDA_ARCH__
  return __expf(x);
#else
  return expf(x);
#endif
}
__host__ __device__ inline double fast_exp(double x) { return exp(x); }

// 2^x, in fp32 by the instruction alone: a result below the least normal number is 0.
__host__ __device__ inline float fast_exp2(float x) {
#ifdef __CUDA_ARCH__
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#else
  return exp2f(x);
#endif
}
__host__ __device__ inline double fast_exp2(double x) { return exp2(x); }

// 2^x by multiplications and additions alone, to 1e-4 of the result, for |x| of 126 at most; NaN
// stays NaN. For kernels that keep the unit for special functions busy with others.
__host__ __device__ inline float polynomial_exp2(float x) {
  constexpr float kRounds = 12582912.0f;  // 1.5 * 2^23: a sum with it ends at the binary point
  const float shifted = x + kRounds;
  const float rest = x - (shifted - kRounds);  // -0.5 to 0.5
  const float power =
      fmaf(fmaf(fmaf(0.0551717021f, rest, 0.2426112f), rest, 0.693260968f), rest, 0.999928057f);
  uint32_t bits;  // whose lowest ones are the whole part
  memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits << 23) + 0x3f800000u;
  float factor;
  memcpy(&factor, &bits, sizeof(bits));
  return power * factor;
}

// In fp32 by the instruction for inverses, to two of the last places.
__host__ __device__ inline float fast_divide(float x, float y) {
#ifdef __CUDA_ARCH__
  return __fdividef(x, y);
#else
  return x / y;
#endif
}
__host__ __device__ inline double fast_divide(double x, double y) { return x / y; }

// In fp32 to some 1e-7 of 1, not of the result, by two instructions for special functions.
__host__ __device__ inline float fast_tanh(float x) {
  constexpr float kTwoLog2E = 2.88539008f;
  return 1.0f - fast_divide(2.0f, 1.0f + fast_exp2(x * kTwoLog2E));
}
__host__ __device__ inline double fast_tanh(double x) { return tanh(x); }

// In fp32 by one instruction, to 2^-11 of the result.
__host__ __device__ inline float approximate_tanh(float x) {
#ifdef __CUDA_ARCH__
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return tanhf(x);
#endif
}

template <typename F>
__host__ __device__ F sigmoid(F x) {
  return fast_divide(F(1), F(1) + fast_exp(-x));
}

// x * sigmoid(x), also called swish.
template <typename F>
__host__ __device__ F silu(F x) {
  return fast_divide(x, F(1) + fast_exp(-x));
}

// Why not fmax: it would make 0 of NaN.
template <typename F>
__host__ __device__ F relu(F x) {
  return x < F(0) ? F(0) : x;
}

// The exact gelu, by the error function.
template <typename F>
__host__ __device__ F gelu(F x) {
  return F(0.5) * x * (F(1) + erf(x * F(0.70710678118654752)));
}

// gelu approximated by tanh: x / 2 * (1 + tanh(u)) = x * sigmoid(2u), where
// u = sqrt(2 / pi) * (x + 0.044715 * x^3).
template <typename F>
__host__ __device__ F gelu_tanh(F x) {
  return x * sigmoid(F(1.5957691216057308) * (x + F(0.044715) * x * x * x));
}

// log(1 + exp(x)), also where exp(x) overflows.
template <typename F>
__host__ __device__ F softplus(F x) {
  return fmax(x, F(0)) + log1p(exp(-fabs(x)));
}

}  // namespace fictl::device
