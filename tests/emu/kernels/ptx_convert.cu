// Conversions, and arithmetic on halves: case i of `compute` writes out[i * count + thread]. The
// test has, by the text of the instruction, what it must give.
#include <cuda_runtime.h>

#include <cstdint>

// The kinds name the registers: the destination, then the sources. R: 32 bits, H: 16, F: float,
// D: double, L: 64.
#define CASES(X)                                                                          \
  X(HF, "cvt.rn.f16.f32 %0, %1;")                                                         \
  X(HF, "cvt.rz.f16.f32 %0, %1;")                                                         \
  X(HF, "cvt.rn.bf16.f32 %0, %1;")                                                        \
  X(HF, "cvt.rz.bf16.f32 %0, %1;")                                                        \
  X(HF, "cvt.rn.relu.bf16.f32 %0, %1;")                                                   \
  X(FH, "cvt.f32.f16 %0, %1;")                                                            \
  X(RFF, "cvt.rn.f16x2.f32 %0, %1, %2;")                                                  \
  X(RFF, "cvt.rn.bf16x2.f32 %0, %1, %2;")                                                 \
  X(RFF, "cvt.rn.relu.f16x2.f32 %0, %1, %2;")                                             \
  X(RF, "cvt.rna.tf32.f32 %0, %1;")                                                       \
  X(RF, "cvt.rni.s32.f32 %0, %1;")                                                        \
  X(RF, "cvt.rzi.u32.f32 %0, %1;")                                                        \
  X(RF, "cvt.rmi.s32.f32 %0, %1;")                                                        \
  X(RF, "cvt.rpi.ftz.s32.f32 %0, %1;")                                                    \
  X(FF, "cvt.rni.f32.f32 %0, %1;")                                                        \
  X(FF, "cvt.sat.f32.f32 %0, %1;")                                                        \
  X(FR, "cvt.rn.f32.s32 %0, %1;")                                                         \
  X(FR, "cvt.rz.f32.u32 %0, %1;")                                                         \
  X(DF, "cvt.f64.f32 %0, %1;")                                                            \
  X(RR, "cvt.s32.s8 %0, %1;")                                                             \
  X(RR, "cvt.u32.u16 %0, %1;")                                                            \
  X(RR, "cvt.sat.s8.s32 %0, %1;")                                                         \
  X(LR, "cvt.s64.s32 %0, %1;")                                                            \
  X(RRR, "add.f16x2 %0, %1, %2;")                                                         \
  X(RRR, "mul.rn.f16x2 %0, %1, %2;")                                                      \
  X(RRR, "sub.rn.f16x2 %0, %1, %2;")                                                      \
  X(RRR, "max.f16x2 %0, %1, %2;")                                                         \
  X(RRR, "min.bf16x2 %0, %1, %2;")                                                        \
  X(RRR, "fma.rn.f16x2 %0, %1, %2, %1;")                                                  \
  X(RRR, "fma.rn.bf16x2 %0, %1, %2, %2;")                                                 \
  X(RRR, "fma.rn.relu.bf16x2 %0, %1, %2, %2;")                                            \
  X(RR, "neg.f16x2 %0, %1;")                                                              \
  X(RR, "abs.bf16x2 %0, %1;")                                                             \
  X(HHH, "fma.rn.f16 %0, %1, %2, %2;")                                                    \
  X(RRR,                                                                                  \
    "{ .reg .pred p, q; .reg .b32 a, b; setp.lt.f16x2 p|q, %1, %2; selp.b32 a, 1, 0, p; " \
    "selp.b32 b, 2, 0, q; or.b32 %0, a, b; }")                                            \
  X(RRR, "set.gt.f16x2.f16x2 %0, %1, %2;")                                                \
  NEWER(X)

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define NEWER(X)                                      \
  X(RRR, "add.rn.bf16x2 %0, %1, %2;")                 \
  X(HFF, "cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;")   \
  X(HFF, "cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;")   \
  X(HR, "cvt.rn.satfinite.relu.e4m3x2.f16x2 %0, %1;") \
  X(RH, "cvt.rn.f16x2.e4m3x2 %0, %1;")                \
  X(RH, "cvt.rn.f16x2.e5m2x2 %0, %1;")
#else
#define NEWER(X)
#endif

struct Inputs {
  const uint32_t *a, *b;
  const float *x, *y;
};

__device__ uint64_t compute(int which, const Inputs& in, int i) {
  const uint32_t a = in.a[i], b = in.b[i];
  const float x = in.x[i], y = in.y[i];
  const uint16_t h = static_cast<uint16_t>(a), k = static_cast<uint16_t>(b);
  uint32_t r = 0;
  uint64_t l = 0;
  uint16_t s = 0;
  float f = 0;
  double d = 0;
  switch (which) {
#define RR(text)                \
  asm(text : "=r"(r) : "r"(a)); \
  return r
#define RRR(text)                       \
  asm(text : "=r"(r) : "r"(a), "r"(b)); \
  return r
#define RF(text)                \
  asm(text : "=r"(r) : "f"(x)); \
  return r
#define RH(text)                \
  asm(text : "=r"(r) : "h"(h)); \
  return r
#define RFF(text)                       \
  asm(text : "=r"(r) : "f"(x), "f"(y)); \
  return r
#define HF(text)                \
  asm(text : "=h"(s) : "f"(x)); \
  return s
#define HR(text)                \
  asm(text : "=h"(s) : "r"(a)); \
  return s
#define HFF(text)                       \
  asm(text : "=h"(s) : "f"(x), "f"(y)); \
  return s
#define HHH(text)                       \
  asm(text : "=h"(s) : "h"(h), "h"(k)); \
  return s
#define FH(text)                \
  asm(text : "=f"(f) : "h"(h)); \
  return __float_as_uint(f)
#define FF(text)                \
  asm(text : "=f"(f) : "f"(x)); \
  return __float_as_uint(f)
#define FR(text)                \
  asm(text : "=f"(f) : "r"(a)); \
  return __float_as_uint(f)
#define DF(text)                \
  asm(text : "=d"(d) : "f"(x)); \
  return __double_as_longlong(d)
#define LR(text)                \
  asm(text : "=l"(l) : "r"(a)); \
  return l
    enum { kFirst = __COUNTER__ + 1 };
#define CASE(kind, text)       \
  case __COUNTER__ - kFirst: { \
    kind(text);                \
  }
    CASES(CASE)
  }
  return ~0ull;
}

__global__ void Compute(Inputs in, uint64_t* out) {
  const int i = threadIdx.x;
  out[blockIdx.x * blockDim.x + i] = compute(blockIdx.x, in, i);
}

#define TEXT(kind, text) #kind " " text,
static const char* const kTexts[] = {CASES(TEXT) nullptr};

extern "C" const char* text(int which) { return kTexts[which]; }

extern "C" int run(int cases, int count, const uint32_t* a, const uint32_t* b, const float* x,
                   const float* y, uint64_t* out) {
  Compute<<<cases, count>>>({a, b, x, y}, out);
  return cudaDeviceSynchronize();
}
