// mma of every type, from fragments as the PTX manual lays them out, and the moves of 8x8 matrices.
#include <cuda_runtime.h>

#include <cstdint>

// What C and D are, the types, the registers of A and of B.
#define KINDS(X)                                             \
  X(F32, "m16n8k16.row.col.f32.f16.f16.f32", A4, B2)         \
  X(F32, "m16n8k8.row.col.f32.f16.f16.f32", A2, B1)          \
  X(F16, "m16n8k16.row.col.f16.f16.f16.f16", A4, B2)         \
  X(F16, "m16n8k8.row.col.f16.f16.f16.f16", A2, B1)          \
  X(F32, "m16n8k16.row.col.f32.bf16.bf16.f32", A4, B2)       \
  X(F32, "m16n8k8.row.col.f32.bf16.bf16.f32", A2, B1)        \
  X(F32, "m16n8k8.row.col.f32.tf32.tf32.f32", A4, B2)        \
  X(F32, "m16n8k4.row.col.f32.tf32.tf32.f32", A2, B1)        \
  X(S32, "m16n8k32.row.col.s32.s8.s8.s32", A4, B2)           \
  X(S32, "m16n8k32.row.col.s32.u8.s8.s32", A4, B2)           \
  X(S32, "m16n8k16.row.col.s32.s8.s8.s32", A2, B1)           \
  X(S32, "m16n8k32.row.col.satfinite.s32.u8.u8.s32", A4, B2) \
  X(S32, "m16n8k64.row.col.s32.s4.s4.s32", A4, B2)           \
  NEWER(X)

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
#define NEWER(X)                                       \
  X(F32, "m16n8k32.row.col.f32.e4m3.e4m3.f32", A4, B2) \
  X(F32, "m16n8k32.row.col.f32.e5m2.e4m3.f32", A4, B2)
#else
#define NEWER(X)
#endif

#define A4 "{a0, a1, a2, a3}"
#define A2 "{a0, a1}"
#define B2 "{b0, b1}"
#define B1 "{b0}"

__device__ void multiply(int which, const uint32_t (&a)[4], const uint32_t (&b)[2],
                         uint32_t (&c)[4]) {
  float f[4];
  for (int i = 0; i < 4; ++i) f[i] = __uint_as_float(c[i]);
#define SOURCES "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])
#define F32(kind, as, bs)                                                                   \
  {                                                                                         \
    asm volatile(                                                                           \
        "{ .reg .b32 a<4>, b<2>; mov.b32 a0, %4; mov.b32 a1, %5; mov.b32 a2, %6;"           \
        "  mov.b32 a3, %7; mov.b32 b0, %8; mov.b32 b1, %9;"                                 \
        "  mma.sync.aligned." kind " {%0, %1, %2, %3}, " as ", " bs ", {%0, %1, %2, %3}; }" \
        : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])                                    \
        : SOURCES);                                                                         \
    for (int i = 0; i < 4; ++i) c[i] = __float_as_uint(f[i]);                               \
  }
#define S32(kind, as, bs)                                                                 \
  asm volatile(                                                                           \
      "{ .reg .b32 a<4>, b<2>; mov.b32 a0, %4; mov.b32 a1, %5; mov.b32 a2, %6;"           \
      "  mov.b32 a3, %7; mov.b32 b0, %8; mov.b32 b1, %9;"                                 \
      "  mma.sync.aligned." kind " {%0, %1, %2, %3}, " as ", " bs ", {%0, %1, %2, %3}; }" \
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                                    \
      : SOURCES);
#define F16(kind, as, bs)                                                       \
  asm volatile(                                                                 \
      "{ .reg .b32 a<4>, b<2>; mov.b32 a0, %2; mov.b32 a1, %3; mov.b32 a2, %4;" \
      "  mov.b32 a3, %5; mov.b32 b0, %6; mov.b32 b1, %7;"                       \
      "  mma.sync.aligned." kind " {%0, %1}, " as ", " bs ", {%0, %1}; }"       \
      : "+r"(c[0]), "+r"(c[1])                                                  \
      : SOURCES);
#define CASE(into, kind, as, bs) \
  case __COUNTER__ - kFirst:     \
    into(kind, as, bs) break;
  switch (which) {
    enum { kFirst = __COUNTER__ + 1 };
    KINDS(CASE)
  }
}

// A by rows and B by columns, of `words` 32-bit words each. C and D by rows: of words, or of pairs.
__global__ void Multiply(int which, bool pairs, int words, const uint32_t* a, const uint32_t* b,
                         uint32_t* c) {
  const int group = threadIdx.x / 4, member = threadIdx.x % 4;
  uint32_t as[4] = {}, bs[2] = {}, cs[4] = {};
  for (int r = 0; r < words / 2; ++r) {
    as[r] = a[(group + 8 * (r % 2)) * words + member + 4 * (r / 2)];
    if (r % 2 == 0) bs[r / 2] = b[group * words + member + 4 * (r / 2)];
  }
  uint32_t* places[4];
  for (int i = 0; i < (pairs ? 2 : 4); ++i) {
    places[i] = pairs ? &c[(group + 8 * i) * 4 + member]
                      : &c[(group + 8 * (i / 2)) * 8 + member * 2 + i % 2];
    cs[i] = *places[i];
  }
  multiply(which, as, bs, cs);
  for (int i = 0; i < (pairs ? 2 : 4); ++i) *places[i] = cs[i];
}

__device__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// Four matrices, whose rows lie 24 elements apart, through registers to `out` and to `moved`.
__global__ void Move(const uint16_t* in, uint32_t* out, uint16_t* moved) {
  __shared__ alignas(16) uint16_t from[32][24], to[32][24];
  for (int i = threadIdx.x; i < 32 * 8; i += 32) {
    from[i / 8][i % 8] = in[i];
    to[i / 8][i % 8] = 0;
  }
  __syncthreads();
  const uint32_t row = shared_address(&from[threadIdx.x][0]);
  uint32_t r[4], t[4], two[2], one, turned;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row)
               : "memory");
  asm volatile("ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16 {%0, %1, %2, _}, [%3];"
               : "=r"(t[0]), "=r"(t[1]), "=r"(t[2])
               : "r"(row)
               : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%0, %1}, [%2];"
               : "=r"(two[0]), "=r"(two[1])
               : "r"(row)
               : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(one)
               : "r"(row)
               : "memory");
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(r[3]));
  const uint32_t got[11] = {r[0], r[1], r[2], r[3], t[0], t[1], t[2], two[0], two[1], one, turned};
  for (int i = 0; i < 11; ++i) out[32 * i + threadIdx.x] = got[i];
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  const uint32_t target = shared_address(&to[threadIdx.x][0]);
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(target),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
  __syncthreads();
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(target), "r"(r[0])
               : "memory");
  const uint32_t behind = shared_address(&to[(threadIdx.x + 8) % 32][0]);
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%0], {%1, %2};" ::"r"(behind),
               "r"(r[1]), "r"(r[2])
               : "memory");
#endif
  __syncthreads();
  for (int i = threadIdx.x; i < 32 * 8; i += 32) moved[i] = to[i / 8][i % 8];
}

// Row 5 of the matrix begins at an odd address.
__global__ void Misaligned(uint32_t* out) {
  __shared__ alignas(16) uint16_t from[8][8];
  for (int i = 0; i < 8; ++i) from[threadIdx.x % 8][i] = 0;
  __syncwarp();
  const uint32_t row = shared_address(&from[threadIdx.x % 8][threadIdx.x == 5]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(out[0]) : "r"(row));
}

#define TEXT(into, kind, as, bs) kind,
static const char* const kTexts[] = {KINDS(TEXT) nullptr};

extern "C" const char* text(int which) { return kTexts[which]; }

extern "C" int product(int which, int pairs, int words, const uint32_t* a, const uint32_t* b,
                       uint32_t* c) {
  Multiply<<<1, 32>>>(which, pairs, words, a, b, c);
  return cudaDeviceSynchronize();
}
extern "C" int moves(const uint16_t* in, uint32_t* out, uint16_t* moved) {
  Move<<<1, 32>>>(in, out, moved);
  return cudaDeviceSynchronize();
}
extern "C" int misaligned(uint32_t* out) {
  Misaligned<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  return cudaGetLastError();  // and forgets it
}
