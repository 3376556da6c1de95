// What copy.cuh and mma.cuh do, one warp and one matrix at a time.
#include <binding/launch.h>

#include <fictl/device/element.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/mma.cuh>

namespace mma {

namespace device = fictl::device;
using fictl::Launch;
using fictl::View;

namespace {

constexpr int kRows = 16;
constexpr int kChunks = 2;

template <int64_t N>
__global__ void PlacesKernel(int* out) {
  const int row = threadIdx.x / N;
  const int chunk = threadIdx.x % N;
  out[threadIdx.x] = device::swizzled<N>(row, chunk);
}

// Columns from `valid` on are taken for zero. A lane brings one chunk.
template <typename T>
__device__ void bring(uint4* to, const T* from, int valid) {
  const int row = threadIdx.x / kChunks;
  const int chunk = threadIdx.x % kChunks;
  const int values = min(max(valid - chunk * 8, 0), 8);
  device::copy_async(to + device::swizzled<kChunks>(row, chunk), from + row * 16 + chunk * 8,
                     values * static_cast<int>(sizeof(T)));
}

// out[16][16] = a[16][16] b[16][16]^T, or a b.
template <typename T>
__global__ void ProductKernel(const T* a, const T* b, float* out, int valid, bool b_along_n) {
  __shared__ uint4 tile_a[kRows * kChunks];
  __shared__ uint4 tile_b[kRows * kChunks];
  bring(tile_a, a, valid);
  bring(tile_b, b, 16);
  device::copy_commit();
  device::copy_wait<0>();
  __syncwarp();

  const int lane = threadIdx.x;
  uint32_t of_a[4], of_b[4];
  const int at = device::swizzled<kChunks>(device::MmaA::row(lane), device::MmaA::chunk(lane));
  device::ldmatrix_x4(of_a, tile_a + at);
  if (b_along_n) {
    device::ldmatrix_x4_trans(of_b, tile_b + at);
  } else {
    device::ldmatrix_x4(of_b, tile_b + device::swizzled<kChunks>(device::MmaB::row(lane),
                                                                 device::MmaB::chunk(lane)));
  }
  for (int half = 0; half < 2; ++half) {
    float d[4] = {};
    device::mma_m16n8k16<T>(d, of_a, of_b[half * 2], of_b[half * 2 + 1]);
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8;
      out[row * 16 + half * 8 + lane % 4 * 2 + i % 2] = d[i];
    }
  }
}

}  // namespace

void places(const Launch& launch, View out, int64_t chunks) {
  DISPATCH_INT(launch, chunks, N, (1, 2, 4, 8, 16, 32), {
    device::LaunchConfig config;
    config.grid = dim3(1);
    config.block = dim3(static_cast<unsigned>(out.numel()));
    config.stream = launch.stream;
    CUDA_CHECK(launch, device::launch<PlacesKernel<N>>(config, out.data<int>()));
  });
}

void product(const Launch& launch, View out, View a, View b, int64_t valid, bool b_along_n) {
  DISPATCH_DTYPE(launch, a, T, (__half, __nv_bfloat16), {
    device::LaunchConfig config;
    config.grid = dim3(1);
    config.block = dim3(32);
    config.stream = launch.stream;
    CUDA_CHECK(launch, device::launch<ProductKernel<T>>(config, a.data<const T>(),
                                                        b.data<const T>(), out.data<float>(),
                                                        static_cast<int>(valid), b_along_n));
  });
}

}  // namespace mma
