// Floating point: arithmetic and conversions in every rounding mode, and mathematics.
#include "surface.cuh"

__device__ int S(long long x) { return static_cast<int>(x); }
__device__ unsigned U(long long x) { return static_cast<unsigned>(x); }
__device__ unsigned long long ULL(long long x) { return static_cast<unsigned long long>(x); }

#define ROUNDED(F, name, ...) \
  F(name##_rn(__VA_ARGS__))   \
  F(name##_rz(__VA_ARGS__)) F(name##_ru(__VA_ARGS__)) F(name##_rd(__VA_ARGS__))

// clang-format off
#define FLOATS(F)                                                                                \
  ROUNDED(F, __fadd, x, y) ROUNDED(F, __fsub, x, y) ROUNDED(F, __fmul, x, y)                     \
  ROUNDED(F, __fdiv, x, y) ROUNDED(F, __frcp, x) ROUNDED(F, __fsqrt, fabsf(x))                   \
  ROUNDED(F, __fmaf, x, y, z) ROUNDED(F, __float2int, x) ROUNDED(F, __float2uint, x)             \
  ROUNDED(F, __float2ll, x) ROUNDED(F, __float2ull, x) F(__float_as_int(x))                      \
  F(__float_as_uint(x)) F(__int_as_float(__float_as_int(x))) F(min(x, y)) F(max(x, y))           \
  F(__saturatef(x)) F(signbit(x)) F(isnan(x)) F(isinf(y))

#define DOUBLES(F)                                                                               \
  ROUNDED(F, __dadd, x, y) ROUNDED(F, __dsub, x, y) ROUNDED(F, __dmul, x, y)                     \
  ROUNDED(F, __ddiv, x, y) ROUNDED(F, __drcp, x) ROUNDED(F, __dsqrt, fabs(x))                    \
  ROUNDED(F, __fma, x, y, z) ROUNDED(F, __double2float, x) ROUNDED(F, __double2int, x)           \
  ROUNDED(F, __double2uint, x) ROUNDED(F, __double2ll, x) ROUNDED(F, __double2ull, x)            \
  F(__double2loint(x)) F(__double2hiint(x))                                                      \
  F(__hiloint2double(__double2hiint(x), __double2loint(y)))

#define INTEGERS(F)                                                                              \
  ROUNDED(F, __int2float, S(x)) ROUNDED(F, __uint2float, U(x)) ROUNDED(F, __ll2float, x)         \
  ROUNDED(F, __ull2float, ULL(x)) ROUNDED(F, __ll2double, x) ROUNDED(F, __ull2double, ULL(x))    \
  F(__int2double_rn(S(y))) F(__uint2double_rn(U(z)))

// Where a GPU's result is near the exact one.
#define MATHEMATICS(F)                                                                           \
  F(__expf(x)) F(__exp10f(x)) F(__logf(fabsf(x))) F(__log2f(fabsf(x))) F(__log10f(fabsf(x)))     \
  F(__sinf(x)) F(__cosf(x)) F(__tanf(x)) F(__powf(fabsf(x), y)) F(__fdividef(x, y))              \
  F(fdividef(x, y)) F(rsqrtf(fabsf(x))) F(rsqrt(fabsf(x))) F(__frsqrt_rn(fabsf(x)))              \
  F(rcbrtf(x)) F(exp2f(x)) F(exp10f(x)) F(sinpif(x)) F(cospif(x)) F(normcdff(x))                 \
  F(normcdfinvf(z)) F(erfinvf(z)) F(erfcinvf(z)) F(erfcxf(x)) F(cyl_bessel_i0f(x))               \
  F(cyl_bessel_i1f(x)) F(rhypotf(x, y)) F(norm3df(x, y, z)) F(rnorm3df(x, y, z))                 \
  F(norm4df(x, y, z, x)) F(rnorm4df(x, y, z, y)) F(tanhf(x)) F(erff(x)) F(exp(x)) F(log1pf(z))
// clang-format on

SURFACE(floats, float, FLOATS)
SURFACE(doubles, double, DOUBLES)
SURFACE(long_longs, long long, INTEGERS)
SURFACE(mathematics, float, MATHEMATICS)
