// What cuda_fp16.h and cuda_bf16.h have for device code only, on both types and their pairs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "surface.cuh"

// clang-format off
#define ARITHMETIC(F)                                                                            \
  F(__hfma(x, y, z)) F(__hfma_sat(x, y, z)) F(__hfma_relu(x, y, z)) F(__hadd(x, y))              \
  F(__hsub(x, y)) F(__hmul(x, y)) F(__hneg(x)) F(__habs(x)) F(__hmax(x, y)) F(__hmin(x, y))      \
  F(htrunc(x)) F(hceil(x)) F(hfloor(x)) F(hrint(x)) F(hsqrt(__habs(x))) F(hrcp(x))               \
  F(__heq(x, y)) F(__hlt(x, y)) F(__hisnan(x))

#define MATHEMATICS(F)                                                                           \
  F(hrsqrt(__habs(x))) F(hlog(__habs(x))) F(hlog2(__habs(x))) F(hlog10(__habs(x))) F(hexp(x))    \
  F(hexp2(x)) F(hexp10(x)) F(hsin(x)) F(hcos(x)) F(htanh(x)) F(htanh_approx(x))

#define TO_INTEGERS(F, from)                                                                     \
  F(from##2int_rn(x)) F(from##2int_rd(x)) F(from##2int_ru(x)) F(from##2int_rz(x))                \
  F(from##2uint_rn(x)) F(from##2short_rd(x)) F(from##2ushort_ru(x)) F(from##2ll_rn(x))           \
  F(from##2ull_rd(x))
// clang-format on

#define HALVES(F) ARITHMETIC(F) TO_INTEGERS(F, __half)
#define BFLOATS(F) ARITHMETIC(F) TO_INTEGERS(F, __bfloat16)

__device__ long long wide(int high, int low) {
  return static_cast<long long>(high) * 4294967296LL + static_cast<unsigned>(low);
}
__device__ unsigned long long uwide(int high, int low) {
  return static_cast<unsigned long long>(wide(high, low));
}

// clang-format off
#define FROM_INTEGERS(F)                                                                         \
  F(__int2bfloat16_rz(x)) F(__int2bfloat16_rd(x)) F(__int2bfloat16_ru(x))                        \
  F(__ll2bfloat16_rd(wide(x, y))) F(__ull2bfloat16_ru(uwide(y, z)))
// clang-format on

SURFACE(halves, __half, HALVES)
SURFACE(bfloats, __nv_bfloat16, BFLOATS)
SURFACE(half_mathematics, __half, MATHEMATICS)
SURFACE(bfloat_mathematics, __nv_bfloat16, MATHEMATICS)
SURFACE(from_integers, int, FROM_INTEGERS)

// Pairs must do what two single ones do.
template <class T>
__device__ bool same(T a, T b) {
  return (__hisnan(a) && __hisnan(b)) || __heq(a, b);
}

template <class T, class Pair>
__device__ int differences(Pair x, Pair y, Pair z) {
  int count = 0;
  const auto one = [&](auto pair, auto single, Pair a) {
    const Pair got = pair(a);
    count += !same<T>(got.x, single(a.x)) + !same<T>(got.y, single(a.y));
  };
  const auto three = [&](auto triple, auto single) {
    const Pair got = triple(x, y, z);
    count += !same<T>(got.x, single(x.x, y.x, z.x)) + !same<T>(got.y, single(x.y, y.y, z.y));
  };
#define ONE(name) one([](Pair p) { return h2##name(p); }, [](T v) { return h##name(v); }, x)
  ONE(trunc), ONE(ceil), ONE(floor), ONE(rint), ONE(sqrt), ONE(rsqrt), ONE(rcp), ONE(log);
  ONE(log2), ONE(log10), ONE(exp), ONE(exp2), ONE(exp10), ONE(sin), ONE(cos), ONE(tanh);
  ONE(tanh_approx);
#define THREE(name2, name)                                     \
  three([](Pair a, Pair b, Pair c) { return name2(a, b, c); }, \
        [](T a, T b, T c) { return name(a, b, c); })
  THREE(__hfma2, __hfma), THREE(__hfma2_sat, __hfma_sat), THREE(__hfma2_relu, __hfma_relu);
  const Pair complex = __hcmadd(x, y, z);
  count += !same<T>(complex.x, __hfma(__hneg(x.y), y.y, __hfma(x.x, y.x, z.x)));
  count += !same<T>(complex.y, __hfma(x.y, y.x, __hfma(x.x, y.y, z.y)));
  return count;
}

template <class T, class Pair>
__global__ void pairs_kernel(const T* a, const T* b, const T* c, int* wrong, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 >= n) return;
  wrong[i] = differences<T, Pair>(Pair(a[i], a[i + 1]), Pair(b[i], b[i + 1]), Pair(c[i], c[i + 1]));
}

extern "C" int half_pairs(const __half* a, const __half* b, const __half* c, int* wrong, int n) {
  pairs_kernel<__half, __half2><<<(n + 127) / 128, 128>>>(a, b, c, wrong, n);
  return finish();
}
extern "C" int bfloat_pairs(const __nv_bfloat16* a, const __nv_bfloat16* b, const __nv_bfloat16* c,
                            int* wrong, int n) {
  pairs_kernel<__nv_bfloat16, __nv_bfloat162><<<(n + 127) / 128, 128>>>(a, b, c, wrong, n);
  return finish();
}
