// e2m1, four bits a number: a sign, and one of 0, 0.5, 1, 1.5, 2, 3, 4, 6 by its code of 0 to 7.
//
// Two numbers share a byte, the first in its low half.
#pragma once

#include <math.h>
#include <stdint.h>

#include <cuda_runtime.h>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000 && \
    (defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FAMILY_SPECIFIC__))
#define FICTL_HAS_E2M1_CONVERSION
#include <cuda_fp4.h>
#endif

namespace fictl::device {

constexpr float kE2M1Most = 6.0f;

// Four codes in the low 16 bits, from 2 * |x|, rounded to the nearest, ties to even.
//
// The code as a function of the number is straight between 0, 2, 4 and 6, with slopes 2, 1 and 1/2:
// a sum of three ramps from 0 to 1, which instructions that saturate compute, times 4, 2 and 1.
// Adding to 2^23 rounds to an integer; only the last ramp that has begun is none yet, so that this
// happens once. What the format calls even is an even code, and 2^23 is even. To 2^23 * 16^k, what
// is added becomes a multiple of 16^k: codes are rounded to where they are to be, the last one
// first.
__device__ inline uint32_t e2m1_codes_of_twice(const float* x) {
  constexpr float kRound = 8388608.0f;
  float codes = 4096 * kRound;
  float unit = 4096;
#pragma unroll
  for (int i = 3; i >= 0; --i) {
    const float size = fabsf(x[i]);
    codes = __saturatef(size) * (4 * unit) + codes;
    codes = __saturatef(size - 1.0f) * (2 * unit) + codes;
    codes = __saturatef(size - 2.0f) * unit + codes;
    if (i > 0) codes -= (unit - unit / 16) * kRound;
    unit /= 16;
  }
  return __float_as_uint(codes);
}

// Packs the highest bytes of four numbers.
__device__ inline uint32_t high_bytes(float a, float b, float c, float d) {
  const uint32_t ab = __byte_perm(__float_as_uint(a), __float_as_uint(b), 0x0073);
  const uint32_t cd = __byte_perm(__float_as_uint(c), __float_as_uint(d), 0x0073);
  return __byte_perm(ab, cd, 0x5410);
}

// Converts eight numbers times `factor`, which is not negative, to the nearest, ties to even.
// Values beyond 6 become 6.
__device__ inline uint32_t to_e2m1(const float (&x)[8], float factor) {
#ifdef FICTL_HAS_E2M1_CONVERSION
  uint32_t packed = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = make_float2(x[2 * i] * factor, x[2 * i + 1] * factor);
    const uint32_t byte = __nv_cvt_float2_to_fp4x2(pair, __NV_E2M1, cudaRoundNearest);
    packed |= byte << (8 * i);
  }
  return packed;
#else
  // Why the intrinsic: the product is to be rounded, not fused with what follows.
  float halves[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) halves[i] = __fmul_rn(x[i], 0.5f * factor);
  const uint32_t codes =
      __byte_perm(e2m1_codes_of_twice(halves), e2m1_codes_of_twice(halves + 4), 0x5410);
  const uint32_t even = high_bytes(x[0], x[2], x[4], x[6]);
  const uint32_t odd = high_bytes(x[1], x[3], x[5], x[7]);
  return codes | (even >> 4 & 0x08080808) | (odd & 0x80808080);
#endif
}

// Decodes the lowest four bits. The code is the exponent and the first bit of the mantissa of the
// number 2^126 times smaller, subnormal where it is.
__device__ inline float from_e2m1(uint32_t nibble) {
  const uint32_t bits = (nibble & 7) << 22 | (nibble & 8) << 28;
  return __uint_as_float(bits) * 0x1p126f;
}

}  // namespace fictl::device
