// transpose_bytes.cuh and widen.cuh, a tile at a time.
#include <binding/launch.h>

#include <fictl/device/convert.cuh>
#include <fictl/device/element.cuh>
#include <fictl/device/element_fp8.cuh>
#include <fictl/device/hopper/guard.cuh>
#include <fictl/device/hopper/proxy.cuh>
#include <fictl/device/hopper/transpose_bytes.cuh>
#include <fictl/device/hopper/wgmma/fp8.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/widen.cuh>

namespace bytes {

namespace device = fictl::device;
using fictl::Launch;
using fictl::View;

namespace {

using Fp8 = __nv_fp8_e4m3;
constexpr int kWarps = 4;

// out[64][kColumns] = p[64][kRows] v[kRows][kColumns], by fp8 wgmma with p in registers.
template <int kRows, int kColumns>
__global__ void __launch_bounds__(128) WeighKernel(const float* p, const uint4* v, float* out) {
#ifdef FICTL_HOPPER
  __shared__ __align__(1024) unsigned char rows[kRows * kColumns];
  __shared__ __align__(1024) unsigned char transposed[kRows * kColumns];
  constexpr int kChunks = kColumns / 16;
  const int thread = threadIdx.x, lane = thread % 32;
  for (int i = thread; i < kRows * kChunks; i += 128) {
    reinterpret_cast<uint4*>(rows)[device::swizzled<kChunks>(i / kChunks, i % kChunks)] = v[i];
  }
  __syncthreads();
  device::TransposedBytes<kRows, kColumns>::template run<kWarps>(rows, transposed, thread / 32,
                                                                 lane);
  device::fence_async_shared();
  __syncthreads();

  // As attention has its scores: registers of a product of kRows columns.
  const device::AccumulatorLayout at{thread};
  float scores[kRows / 2];
  for (int i = 0; i < kRows / 2; ++i) scores[i] = p[at.row(i) * kRows + at.column(i)];
  uint32_t a[kRows / 32][4];
  for (int step = 0; step < kRows / 32; ++step) {
    for (int i = 0; i < 4; ++i) {
      const float* first = &scores[step * 16 + i / 2 * 8 + i % 2 * 2];
      const float four[4] = {first[0], first[1], first[4], first[5]};
      a[step][i] = device::from_float<Fp8>(four).bits();
    }
  }
  constexpr auto kSwizzle = kRows == 64 ? device::Swizzle::k64 : device::Swizzle::k128;
  const device::TileDescriptor b = device::k_major_tile<kSwizzle>(transposed);
  float sums[kColumns / 2];
  device::pin(sums);
  device::wgmma_begin();
  for (int step = 0; step < kRows / 32; ++step) {
    const int panel = step / 4 * kColumns * 128;
    device::wgmma<Fp8>(sums, a[step], b.advance(panel + step % 4 * 32), step > 0);
  }
  device::wgmma_commit();
  device::wgmma_wait<0>();
  device::pin(sums);
  for (int pair = 0; pair < kColumns / 16; ++pair) {
    for (int half = 0; half < 2; ++half) {
      float* to = out + (at.row(0) + 8 * half) * kColumns + pair * 16 + lane % 4 * 4;
      *reinterpret_cast<float4*>(to) = device::sums_of_four(sums, pair, half);
    }
  }
#endif
}

template <typename From, typename To>
__global__ void WidenKernel(const uint4* from, uint4* to) {
  const uint4 chunks[2] = {from[2 * threadIdx.x], from[2 * threadIdx.x + 1]};
  device::widen_all<To, From>(chunks, [&](int i, const uint4(&wide)[2]) {
    to[4 * threadIdx.x + 2 * i] = wide[0];
    to[4 * threadIdx.x + 2 * i + 1] = wide[1];
  });
}

device::LaunchConfig one_block(const Launch& launch, int threads) {
  device::LaunchConfig config;
  config.grid = dim3(1);
  config.block = dim3(threads);
  config.stream = launch.stream;
  return config;
}

}  // namespace

void weigh(const Launch& launch, View out, View p, View v) {
  DISPATCH_INT(launch, v.size(0), R, (64, 128, 256), {
    DISPATCH_INT(launch, v.size(1), C, (64, 128), {
      CUDA_CHECK(launch,
                 (device::launch<WeighKernel<R, C>>(one_block(launch, 128), p.data<const float>(),
                                                    v.data<const uint4>(), out.data<float>())));
    });
  });
}

void widen(const Launch& launch, View out, View x) {
  DISPATCH_DTYPE(launch, x, From, (__nv_fp8_e4m3, __nv_fp8_e5m2), {
    DISPATCH_DTYPE(launch, out, To, (__half, __nv_bfloat16), {
      CUDA_CHECK(launch, (device::launch<WidenKernel<From, To>>(
                             one_block(launch, static_cast<int>(x.numel() / 32)),
                             x.data<const uint4>(), out.data<uint4>())));
    });
  });
}

}  // namespace bytes
