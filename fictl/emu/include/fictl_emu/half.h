// The parts of cuda_fp16.h and cuda_bf16.h that only nvcc compiles: conversions in a chosen
// rounding mode, fused multiply-add, mathematics, shuffles, loads and stores, atomics. The two
// types and their pairs have the same functions, so each is written once.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <fictl_emu/abi.h>
#include <fictl_emu/arithmetic.h>
#include <fictl_emu/atomic.h>
#include <fictl_emu/memory.h>
#include <fictl_emu/rounding.h>
#include <fictl_emu/warp.h>

namespace fictl_emu {

// Traits of a 16-bit type: its pair, and conversions from and to it.
template <class T>
struct Half;

template <>
struct Half<__half> {
  using Pair = __half2;
  static float wide(__half x) { return __half2float(x); }
  static __half narrow(float x) { return __float2half_rn(x); }
  static __half narrow(double x) { return __double2half(x); }
};

template <>
struct Half<__nv_bfloat16> {
  using Pair = __nv_bfloat162;
  static float wide(__nv_bfloat16 x) { return __bfloat162float(x); }
  static __nv_bfloat16 narrow(float x) { return __float2bfloat16_rn(x); }
  static __nv_bfloat16 narrow(double x) { return __double2bfloat16(x); }
};

// The sum rounded to odd, so that rounding it once more to fewer bits is as rounding once.
inline double sum_to_odd(double x, double y) {
  const double sum = x + y;
  const double from_y = sum - x;
  const double error = (x - (sum - from_y)) + (y - from_y);
  const bool odd = (__double_as_longlong(sum) & 1) != 0;
  if (error == 0 || error != error || odd) return sum;
  return std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

// The product of two 16-bit floats is exact in double.
template <class T>
inline T fused(T a, T b, T c) {
  const double product = static_cast<double>(Half<T>::wide(a)) * Half<T>::wide(b);
  return Half<T>::narrow(sum_to_odd(product, Half<T>::wide(c)));
}

template <class T>
inline T saturated(T x) {
  return Half<T>::narrow(__saturatef(Half<T>::wide(x)));
}

template <class T>
inline T rectified(T x) {
  const float wide = Half<T>::wide(x);
  return wide < 0 || wide == 0 ? Half<T>::narrow(0.0f) : x;
}

template <class To, class T, class Round>
inline To to_integer(T x, Round round) {
  return ::fictl_emu::saturated<To>(round(Half<T>::wide(x)));
}

// Rounding twice in one direction is as rounding once.
template <int Mode, class From>
inline float directed_float(From x) {
  return rounded<Mode>(kToFloat, x);
}

}  // namespace fictl_emu

// ---- conversions ----

#define FICTL_EMU_HALF_TO(prefix, Half, To)                                   \
  inline To prefix##_rn(const Half x) {                                       \
    return ::fictl_emu::to_integer<To>(x, [](float f) { return rintf(f); });  \
  }                                                                           \
  inline To prefix##_rd(const Half x) {                                       \
    return ::fictl_emu::to_integer<To>(x, [](float f) { return floorf(f); }); \
  }                                                                           \
  inline To prefix##_ru(const Half x) {                                       \
    return ::fictl_emu::to_integer<To>(x, [](float f) { return ceilf(f); });  \
  }
#define FICTL_EMU_HALF_TO_INTEGERS(prefix, Half)           \
  FICTL_EMU_HALF_TO(prefix##2int, Half, int)               \
  FICTL_EMU_HALF_TO(prefix##2uint, Half, unsigned)         \
  FICTL_EMU_HALF_TO(prefix##2short, Half, short)           \
  FICTL_EMU_HALF_TO(prefix##2ushort, Half, unsigned short) \
  FICTL_EMU_HALF_TO(prefix##2ll, Half, long long)          \
  FICTL_EMU_HALF_TO(prefix##2ull, Half, unsigned long long)
FICTL_EMU_HALF_TO_INTEGERS(__half, __half)
FICTL_EMU_HALF_TO_INTEGERS(__bfloat16, __nv_bfloat16)
#undef FICTL_EMU_HALF_TO_INTEGERS
#undef FICTL_EMU_HALF_TO

#define FICTL_EMU_TO_BFLOAT16(prefix, From)                                    \
  inline __nv_bfloat16 prefix##2bfloat16_rz(From x) {                          \
    return __float2bfloat16_rz(::fictl_emu::directed_float<FE_TOWARDZERO>(x)); \
  }                                                                            \
  inline __nv_bfloat16 prefix##2bfloat16_rd(From x) {                          \
    return __float2bfloat16_rd(::fictl_emu::directed_float<FE_DOWNWARD>(x));   \
  }                                                                            \
  inline __nv_bfloat16 prefix##2bfloat16_ru(From x) {                          \
    return __float2bfloat16_ru(::fictl_emu::directed_float<FE_UPWARD>(x));     \
  }
FICTL_EMU_TO_BFLOAT16(__int, int)
FICTL_EMU_TO_BFLOAT16(__uint, unsigned)
FICTL_EMU_TO_BFLOAT16(__short, short)
FICTL_EMU_TO_BFLOAT16(__ushort, unsigned short)
FICTL_EMU_TO_BFLOAT16(__ll, long long)
FICTL_EMU_TO_BFLOAT16(__ull, unsigned long long)
#undef FICTL_EMU_TO_BFLOAT16

// ---- arithmetic ----

// A function of one element, and the same on pairs.
#define FICTL_EMU_HALF_MATH(T, Pair, name, name2, expression) \
  inline T name(const T a) {                                  \
    const float x = ::fictl_emu::Half<T>::wide(a);            \
    return ::fictl_emu::Half<T>::narrow(expression);          \
  }                                                           \
  inline Pair name2(const Pair a) { return Pair(name(a.x), name(a.y)); }

#define FICTL_EMU_HALF_ARITHMETIC(T, Pair)                                                 \
  FICTL_EMU_HALF_MATH(T, Pair, htrunc, h2trunc, truncf(x))                                 \
  FICTL_EMU_HALF_MATH(T, Pair, hceil, h2ceil, ceilf(x))                                    \
  FICTL_EMU_HALF_MATH(T, Pair, hfloor, h2floor, floorf(x))                                 \
  FICTL_EMU_HALF_MATH(T, Pair, hrint, h2rint, rintf(x))                                    \
  FICTL_EMU_HALF_MATH(T, Pair, hsqrt, h2sqrt, sqrtf(x))                                    \
  FICTL_EMU_HALF_MATH(T, Pair, hrsqrt, h2rsqrt, rsqrtf(x))                                 \
  FICTL_EMU_HALF_MATH(T, Pair, hrcp, h2rcp, 1.0f / x)                                      \
  FICTL_EMU_HALF_MATH(T, Pair, hlog, h2log, logf(x))                                       \
  FICTL_EMU_HALF_MATH(T, Pair, hlog2, h2log2, log2f(x))                                    \
  FICTL_EMU_HALF_MATH(T, Pair, hlog10, h2log10, log10f(x))                                 \
  FICTL_EMU_HALF_MATH(T, Pair, hexp, h2exp, expf(x))                                       \
  FICTL_EMU_HALF_MATH(T, Pair, hexp2, h2exp2, exp2f(x))                                    \
  FICTL_EMU_HALF_MATH(T, Pair, hexp10, h2exp10, exp10f(x))                                 \
  FICTL_EMU_HALF_MATH(T, Pair, hsin, h2sin, sinf(x))                                       \
  FICTL_EMU_HALF_MATH(T, Pair, hcos, h2cos, cosf(x))                                       \
  FICTL_EMU_HALF_MATH(T, Pair, htanh, h2tanh, tanhf(x))                                    \
  FICTL_EMU_HALF_MATH(T, Pair, htanh_approx, h2tanh_approx, tanhf(x))                      \
  inline T __hfma(const T a, const T b, const T c) { return ::fictl_emu::fused(a, b, c); } \
  inline T __hfma_sat(const T a, const T b, const T c) {                                   \
    return ::fictl_emu::saturated(::fictl_emu::fused(a, b, c));                            \
  }                                                                                        \
  inline T __hfma_relu(const T a, const T b, const T c) {                                  \
    return ::fictl_emu::rectified(::fictl_emu::fused(a, b, c));                            \
  }                                                                                        \
  inline Pair __hfma2(const Pair a, const Pair b, const Pair c) {                          \
    return Pair(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));                             \
  }                                                                                        \
  inline Pair __hfma2_sat(const Pair a, const Pair b, const Pair c) {                      \
    return Pair(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));                     \
  }                                                                                        \
  inline Pair __hfma2_relu(const Pair a, const Pair b, const Pair c) {                     \
    return Pair(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));                   \
  }                                                                                        \
  inline Pair __hcmadd(const Pair a, const Pair b, const Pair c) {                         \
    return Pair(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)),                           \
                __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));                                  \
  }

FICTL_EMU_HALF_ARITHMETIC(__half, __half2)
FICTL_EMU_HALF_ARITHMETIC(__nv_bfloat16, __nv_bfloat162)
#undef FICTL_EMU_HALF_ARITHMETIC
#undef FICTL_EMU_HALF_MATH

// ---- lanes and memory ----

FICTL_EMU_SHUFFLES(__half)
FICTL_EMU_SHUFFLES(__half2)
FICTL_EMU_SHUFFLES(__nv_bfloat16)
FICTL_EMU_SHUFFLES(__nv_bfloat162)
#undef FICTL_EMU_SHUFFLES

FICTL_EMU_CACHED(__half)
FICTL_EMU_CACHED(__half2)
FICTL_EMU_CACHED(__nv_bfloat16)
FICTL_EMU_CACHED(__nv_bfloat162)
#undef FICTL_EMU_CACHED

FICTL_EMU_SCOPES(FICTL_EMU_UPDATE, atomicAdd, __half, __hadd(old, value))
FICTL_EMU_SCOPES(FICTL_EMU_UPDATE, atomicAdd, __half2, __hadd2(old, value))
FICTL_EMU_SCOPES(FICTL_EMU_UPDATE, atomicAdd, __nv_bfloat16, __hadd(old, value))
FICTL_EMU_SCOPES(FICTL_EMU_UPDATE, atomicAdd, __nv_bfloat162, __hadd2(old, value))
#undef FICTL_EMU_UPDATE
#undef FICTL_EMU_SCOPES
