// One instruction a case: case i of `compute` writes out[i * count + thread]. The test has, by the
// text of the instruction, what it must give.
#include <cuda_runtime.h>

#include <cstdint>

// R: 32-bit registers, H: 16 bits, L: 64 bits, F: float, P: a predicate; the number of operands.
#define CASES(X)                                                                      \
  X(R2, "add.u32 %0, %1, %2;")                                                        \
  X(R2, "add.sat.s32 %0, %1, %2;")                                                    \
  X(R2, "sub.s32 %0, %1, %2;")                                                        \
  X(R2, "sub.sat.s32 %0, %1, %2;")                                                    \
  X(R2, "mul.lo.u32 %0, %1, %2;")                                                     \
  X(R2, "mul.hi.u32 %0, %1, %2;")                                                     \
  X(R2, "mul.hi.s32 %0, %1, %2;")                                                     \
  X(R2, "mul24.lo.u32 %0, %1, %2;")                                                   \
  X(W2, "mul.wide.u32 %0, %1, %2;")                                                   \
  X(W2, "mul.wide.s32 %0, %1, %2;")                                                   \
  X(R3, "mad.lo.s32 %0, %1, %2, %3;")                                                 \
  X(R3, "mad.hi.u32 %0, %1, %2, %3;")                                                 \
  X(R2, "div.u32 %0, %1, %2;")                                                        \
  X(R2, "div.s32 %0, %1, %2;")                                                        \
  X(R2, "rem.s32 %0, %1, %2;")                                                        \
  X(R3, "sad.s32 %0, %1, %2, %3;")                                                    \
  X(R2, "min.s32 %0, %1, %2;")                                                        \
  X(R2, "max.u32 %0, %1, %2;")                                                        \
  X(R1, "abs.s32 %0, %1;")                                                            \
  X(R1, "neg.s32 %0, %1;")                                                            \
  X(R2, "and.b32 %0, %1, %2;")                                                        \
  X(R2, "or.b32 %0, %1, %2;")                                                         \
  X(R2, "xor.b32 %0, %1, %2;")                                                        \
  X(R1, "not.b32 %0, %1;")                                                            \
  X(R1, "cnot.b32 %0, %1;")                                                           \
  X(R2, "shl.b32 %0, %1, %2;")                                                        \
  X(R2, "shr.u32 %0, %1, %2;")                                                        \
  X(R2, "shr.s32 %0, %1, %2;")                                                        \
  X(R3, "shf.l.wrap.b32 %0, %1, %2, %3;")                                             \
  X(R3, "shf.r.clamp.b32 %0, %1, %2, %3;")                                            \
  X(R3, "bfe.u32 %0, %1, %2, %3;")                                                    \
  X(R3, "bfe.s32 %0, %1, %2, %3;")                                                    \
  X(R3, "bfi.b32 %0, %1, %2, 5, 11;")                                                 \
  X(R1, "popc.b32 %0, %1;")                                                           \
  X(R1, "clz.b32 %0, %1;")                                                            \
  X(R1, "brev.b32 %0, %1;")                                                           \
  X(R1, "bfind.u32 %0, %1;")                                                          \
  X(R1, "bfind.shiftamt.s32 %0, %1;")                                                 \
  X(R3, "lop3.b32 %0, %1, %2, %3, 0x96;")                                             \
  X(R3, "lop3.b32 %0, %1, %2, %3, 0xca;")                                             \
  X(R3, "prmt.b32 %0, %1, %2, %3;")                                                   \
  X(R3, "prmt.b32.f4e %0, %1, %2, %3;")                                               \
  X(R3, "prmt.b32.b4e %0, %1, %2, %3;")                                               \
  X(R3, "prmt.b32.rc8 %0, %1, %2, %3;")                                               \
  X(R3, "prmt.b32.ecl %0, %1, %2, %3;")                                               \
  X(R3, "prmt.b32.ecr %0, %1, %2, %3;")                                               \
  X(R3, "prmt.b32.rc16 %0, %1, %2, %3;")                                              \
  X(R2, "bmsk.clamp.b32 %0, %1, %2;")                                                 \
  X(R2, "bmsk.wrap.b32 %0, %1, %2;")                                                  \
  X(R3, "dp4a.s32.s32 %0, %1, %2, %3;")                                               \
  X(R3, "dp4a.u32.s32 %0, %1, %2, %3;")                                               \
  X(R3, "dp2a.hi.s32.u32 %0, %1, %2, %3;")                                            \
  X(L2, "add.u64 %0, %1, %2;")                                                        \
  X(L2, "mul.hi.u64 %0, %1, %2;")                                                     \
  X(L2, "xor.b64 %0, %1, %2;")                                                        \
  X(R1, "{ .reg .b32 t<2>; mov.b32 t0, %1; shl.b32 t1, t0, 3; sub.u32 %0, t1, t0; }") \
  X(R1, "{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }")          \
  X(P2, "setp.lt.s32 p, %1, %2;")                                                     \
  X(P2, "setp.lo.u32 p, %1, %2;")                                                     \
  X(P2, "setp.ge.u32 p, %1, %2;")                                                     \
  X(P2, "setp.eq.or.s32 p, %1, %2, q;")                                               \
  X(P2, "setp.ne.and.s32 p, %1, %2, !q;")                                             \
  X(P2, "setp.gt.s32 p|q, %1, %2; xor.pred p, p, q;")                                 \
  X(P2, "mov.pred p, q; @!p setp.eq.s32 p, %1, %2;")                                  \
  X(R3, "set.lt.u32.s32 %0, %1, %2;")                                                 \
  X(R3, "{ .reg .pred p; setp.ne.u32 p, %3, 0; selp.b32 %0, %1, %2, p; }")            \
  X(F2, "add.f32 %0, %1, %2;")                                                        \
  X(F2, "add.rz.f32 %0, %1, %2;")                                                     \
  X(F2, "sub.rm.f32 %0, %1, %2;")                                                     \
  X(F2, "mul.rp.f32 %0, %1, %2;")                                                     \
  X(F2, "mul.sat.f32 %0, %1, %2;")                                                    \
  X(F3, "fma.rn.f32 %0, %1, %2, %3;")                                                 \
  X(F3, "fma.rz.f32 %0, %1, %2, %3;")                                                 \
  X(F3, "mad.rn.f32 %0, %1, %2, %3;")                                                 \
  X(F2, "div.rn.f32 %0, %1, %2;")                                                     \
  X(F2, "min.f32 %0, %1, %2;")                                                        \
  X(F2, "max.NaN.f32 %0, %1, %2;")                                                    \
  X(F1, "abs.f32 %0, %1;")                                                            \
  X(F1, "neg.f32 %0, %1;")                                                            \
  X(F2, "copysign.f32 %0, %1, %2;")                                                   \
  X(F1, "sqrt.rn.f32 %0, %1;")                                                        \
  X(F1, "rcp.rn.f32 %0, %1;")                                                         \
  X(A1, "ex2.approx.ftz.f32 %0, %1;")                                                 \
  X(A1, "lg2.approx.f32 %0, %1;")                                                     \
  X(A1, "rsqrt.approx.f32 %0, %1;")                                                   \
  X(A1, "tanh.approx.f32 %0, %1;")                                                    \
  X(A1, "sin.approx.f32 %0, %1;")                                                     \
  X(A1, "cos.approx.f32 %0, %1;")                                                     \
  X(F1, "mul.f32 %0, %1, 0f3FC00000;")                                                \
  X(F1, "add.f32 %0, %1, 0.5;")                                                       \
  X(G2, "setp.ltu.f32 p, %1, %2;")                                                    \
  X(G2, "setp.ne.f32 p, %1, %2;")                                                     \
  X(G2, "testp.finite.f32 p, %1;")

struct Inputs {
  const uint32_t *a, *b, *c;
  const float *x, *y, *z;
};

__device__ uint64_t compute(int which, const Inputs& in, int i) {
  const uint32_t a = in.a[i], b = in.b[i], c = in.c[i];
  const uint64_t la = uint64_t{a} << 32 | b, lb = uint64_t{b} << 32 | c;
  const float x = in.x[i], y = in.y[i], z = in.z[i];
  uint32_t r = 0;
  uint64_t l = 0;
  float f = 0;
  switch (which) {
#define R1(text)                \
  asm(text : "=r"(r) : "r"(a)); \
  return r
#define R2(text)                        \
  asm(text : "=r"(r) : "r"(a), "r"(b)); \
  return r
#define R3(text)                                \
  asm(text : "=r"(r) : "r"(a), "r"(b), "r"(c)); \
  return r
#define W2(text)                        \
  asm(text : "=l"(l) : "r"(a), "r"(b)); \
  return l
#define L2(text)                          \
  asm(text : "=l"(l) : "l"(la), "l"(lb)); \
  return l
#define F1(text)                \
  asm(text : "=f"(f) : "f"(x)); \
  return __float_as_uint(f)
#define A1(text) F1(text)
#define F2(text)                        \
  asm(text : "=f"(f) : "f"(x), "f"(y)); \
  return __float_as_uint(f)
#define F3(text)                                \
  asm(text : "=f"(f) : "f"(x), "f"(y), "f"(z)); \
  return __float_as_uint(f)
#define P2(text)                                                                  \
  asm("{ .reg .pred p, q; setp.eq.u32 q, %3, 0; " text " selp.u32 %0, 1, 0, p; }" \
      : "=r"(r)                                                                   \
      : "r"(a), "r"(b), "r"(c));                                                  \
  return r
#define G2(text)                                                                      \
  asm("{ .reg .pred p; " text " selp.u32 %0, 1, 0, p; }" : "=r"(r) : "f"(x), "f"(y)); \
  return r
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

extern "C" int run(int cases, int count, const uint32_t* a, const uint32_t* b, const uint32_t* c,
                   const float* x, const float* y, const float* z, uint64_t* out) {
  Compute<<<cases, count>>>({a, b, c, x, y, z}, out);
  return cudaDeviceSynchronize();
}
