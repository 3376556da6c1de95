// The mathematics that C++ lacks: extrema of every pair of types, the fast intrinsics (which are
// more accurate here than on a GPU), and CUDA's special functions.
#pragma once

#include <fictl_emu/abi.h>
#include <fictl_emu/glibc_names.h>

#include <cmath>

// ---- extrema ----

#define FICTL_EMU_EXTREMA(Result, A, B)                                              \
  inline Result min(A a, B b) {                                                      \
    return static_cast<Result>(a) < static_cast<Result>(b) ? static_cast<Result>(a)  \
                                                           : static_cast<Result>(b); \
  }                                                                                  \
  inline Result max(A a, B b) {                                                      \
    return static_cast<Result>(a) > static_cast<Result>(b) ? static_cast<Result>(a)  \
                                                           : static_cast<Result>(b); \
  }
FICTL_EMU_EXTREMA(int, int, int)
FICTL_EMU_EXTREMA(unsigned, unsigned, unsigned)
FICTL_EMU_EXTREMA(unsigned, int, unsigned)
FICTL_EMU_EXTREMA(unsigned, unsigned, int)
FICTL_EMU_EXTREMA(long, long, long)
FICTL_EMU_EXTREMA(unsigned long, unsigned long, unsigned long)
FICTL_EMU_EXTREMA(unsigned long, long, unsigned long)
FICTL_EMU_EXTREMA(unsigned long, unsigned long, long)
FICTL_EMU_EXTREMA(long long, long long, long long)
FICTL_EMU_EXTREMA(unsigned long long, unsigned long long, unsigned long long)
FICTL_EMU_EXTREMA(unsigned long long, long long, unsigned long long)
FICTL_EMU_EXTREMA(unsigned long long, unsigned long long, long long)
#undef FICTL_EMU_EXTREMA

// A number wins against NaN.
inline float min(float a, float b) { return b != b || a < b ? a : b; }
inline float max(float a, float b) { return b != b || a > b ? a : b; }
inline double min(double a, double b) { return b != b || a < b ? a : b; }
inline double max(double a, double b) { return b != b || a > b ? a : b; }
inline double min(float a, double b) { return min(double{a}, b); }
inline double max(float a, double b) { return max(double{a}, b); }
inline double min(double a, float b) { return min(a, double{b}); }
inline double max(double a, float b) { return max(a, double{b}); }

inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }
inline long long llmin(long long a, long long b) { return min(a, b); }
inline long long llmax(long long a, long long b) { return max(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

// ---- special functions ----
// Those of float are computed in double, whose error is lost in the last rounding.

namespace fictl_emu {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kRootHalf = 0.70710678118654752440;

template <size_t N>
inline double polynomial(double x, const double (&coefficients)[N]) {
  double sum = 0;
  for (double coefficient : coefficients) sum = sum * x + coefficient;
  return sum;
}

// The quantile of the normal distribution by Acklam's rational approximations, good to 1e-9.
inline double approximate_quantile(double p) {
  static constexpr double tail_over[] = {-7.784894002430293e-3, -3.223964580411365e-1,
                                         -2.400758277161838,    -2.549732539343734,
                                         4.374664141464968,     2.938163982698783};
  static constexpr double tail_under[] = {7.784695709041462e-3, 3.224671290700398e-1,
                                          2.445134137142996, 3.754408661907416, 1};
  static constexpr double middle_over[] = {-3.969683028665376e1, 2.209460984245205e2,
                                           -2.759285104469687e2, 1.383577518672690e2,
                                           -3.066479806614716e1, 2.506628277459239};
  static constexpr double middle_under[] = {-5.447609879822406e1, 1.615858368580409e2,
                                            -1.556989798598866e2, 6.680131188771972e1,
                                            -1.328068155288572e1, 1};
  if (p < 0.02425) {
    const double q = std::sqrt(-2 * std::log(p));
    return polynomial(q, tail_over) / polynomial(q, tail_under);
  }
  const double q = p - 0.5;
  return q * polynomial(q * q, middle_over) / polynomial(q * q, middle_under);
}

// Made exact by two steps of Halley's method.
inline double normal_quantile(double p) {
  if (!(p > 0) || !(p < 1)) return p == 0 ? -HUGE_VAL : p == 1 ? HUGE_VAL : std::nan("");
  if (p > 0.5) return -normal_quantile(1 - p);
  double x = approximate_quantile(p);
  for (int step = 0; step < 2; ++step) {
    const double error = 0.5 * std::erfc(-x * kRootHalf) - p;
    const double change = error * std::sqrt(2 * kPi) * std::exp(x * x / 2);
    x -= change / (1 + x * change / 2);
  }
  return x;
}

// exp(x^2) erfc(x): as a product while that neither overflows nor underflows, then by the
// continued fraction.
inline double scaled_erfc(double x) {
  if (x < 10) return std::exp(x * x) * std::erfc(x);
  double tail = x;
  for (int k = 40; k > 0; --k) tail = x + k / (2 * tail);
  return 1 / (tail * std::sqrt(kPi));
}

template <class T>
inline double square_sum(int count, const T* x) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
}

}  // namespace fictl_emu

// C libraries begin to have these.
#if !__GLIBC_PREREQ(2, 42)
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float rsqrtf(float x) { return static_cast<float>(rsqrt(static_cast<double>(x))); }
#endif
#if !__GLIBC_PREREQ(2, 41)
inline double sinpi(double x) {
  const double turn = std::fmod(std::fabs(x), 2);
  const double sine = turn <= 0.5   ? std::sin(::fictl_emu::kPi * turn)
                      : turn <= 1.5 ? std::sin(::fictl_emu::kPi * (1 - turn))
                                    : std::sin(::fictl_emu::kPi * (turn - 2));
  return x < 0 ? -sine : std::copysign(sine, sine == 0 ? x : sine);
}
inline double cospi(double x) {
  const double turn = std::fmod(std::fabs(x), 2);
  return turn == 0.5 || turn == 1.5 ? 0.0 : std::cos(::fictl_emu::kPi * turn);
}
inline float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
#endif

inline double rcbrt(double x) { return 1 / std::cbrt(x); }
inline double normcdf(double x) { return 0.5 * std::erfc(-x * ::fictl_emu::kRootHalf); }
inline double normcdfinv(double p) { return ::fictl_emu::normal_quantile(p); }
inline double erfcinv(double y) {
  return -::fictl_emu::normal_quantile(y / 2) * ::fictl_emu::kRootHalf;
}
inline double erfinv(double y) {
  const double x = std::copysign(erfcinv(1 - std::fabs(y)), y);
  if (!(std::fabs(y) < 0.5)) return x;
  // 1 - |y| has lost bits of a small y: one step of Newton's method gives them back.
  return x - (std::erf(x) - y) * std::sqrt(::fictl_emu::kPi) / 2 * std::exp(x * x);
}
inline double erfcx(double x) { return ::fictl_emu::scaled_erfc(x); }
inline double cyl_bessel_i0(double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }
inline double cyl_bessel_i1(double x) {
  return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x);
}
inline double rhypot(double x, double y) { return 1 / std::hypot(x, y); }
inline double norm3d(double x, double y, double z) { return std::hypot(x, y, z); }
inline double rnorm3d(double x, double y, double z) { return 1 / norm3d(x, y, z); }
inline double norm4d(double x, double y, double z, double w) {
  return std::hypot(std::hypot(x, y), std::hypot(z, w));
}
inline double rnorm4d(double x, double y, double z, double w) { return 1 / norm4d(x, y, z, w); }
inline double norm(int count, const double* x) {
  return std::sqrt(::fictl_emu::square_sum(count, x));
}
inline double rnorm(int count, const double* x) { return 1 / norm(count, x); }
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}

#define FICTL_EMU_FLOAT1(name, function) \
  inline float name(float x) { return static_cast<float>(function(static_cast<double>(x))); }
FICTL_EMU_FLOAT1(rcbrtf, rcbrt)
FICTL_EMU_FLOAT1(normcdff, normcdf)
FICTL_EMU_FLOAT1(normcdfinvf, normcdfinv)
FICTL_EMU_FLOAT1(erfinvf, erfinv)
FICTL_EMU_FLOAT1(erfcinvf, erfcinv)
FICTL_EMU_FLOAT1(erfcxf, erfcx)
FICTL_EMU_FLOAT1(cyl_bessel_i0f, cyl_bessel_i0)
FICTL_EMU_FLOAT1(cyl_bessel_i1f, cyl_bessel_i1)
// The overloads of the functions that have a name for double only.
FICTL_EMU_FLOAT1(rsqrt, rsqrt)
FICTL_EMU_FLOAT1(rcbrt, rcbrt)
FICTL_EMU_FLOAT1(exp10, exp10)
FICTL_EMU_FLOAT1(sinpi, sinpi)
FICTL_EMU_FLOAT1(cospi, cospi)
FICTL_EMU_FLOAT1(normcdf, normcdf)
FICTL_EMU_FLOAT1(normcdfinv, normcdfinv)
FICTL_EMU_FLOAT1(erfinv, erfinv)
FICTL_EMU_FLOAT1(erfcinv, erfcinv)
FICTL_EMU_FLOAT1(erfcx, erfcx)
#undef FICTL_EMU_FLOAT1

inline float rhypotf(float x, float y) { return static_cast<float>(rhypot(x, y)); }
inline float norm3df(float x, float y, float z) { return static_cast<float>(norm3d(x, y, z)); }
inline float rnorm3df(float x, float y, float z) { return static_cast<float>(rnorm3d(x, y, z)); }
inline float norm4df(float x, float y, float z, float w) {
  return static_cast<float>(norm4d(x, y, z, w));
}
inline float rnorm4df(float x, float y, float z, float w) {
  return static_cast<float>(rnorm4d(x, y, z, w));
}
inline float normf(int count, const float* x) {
  return static_cast<float>(std::sqrt(::fictl_emu::square_sum(count, x)));
}
inline float rnormf(int count, const float* x) {
  return static_cast<float>(1 / std::sqrt(::fictl_emu::square_sum(count, x)));
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
inline void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }
inline void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }

// ---- fast intrinsics ----

inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __tanhf(float x) { return tanhf(x); }
inline void __sincosf(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return powf(x, y); }
// Why not x / y for the largest divisors: there the GPU's is zero, and kernels have met that.
inline float __fdividef(float x, float y) {
  return std::fabs(y) > 0x1p126f && std::fabs(y) < HUGE_VALF ? x * 0.0f : x / y;
}
inline float fdividef(float x, float y) { return __fdividef(x, y); }
inline double fdivide(double x, double y) { return x / y; }
inline float fdivide(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
