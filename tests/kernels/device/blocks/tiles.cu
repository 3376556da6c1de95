// What copy.cuh, swizzle.cuh, ldmatrix.cuh and mma.cuh do, one warp and one tile at a time.
#include <binding/launch.h>

#include <fictl/device/copy.cuh>
#include <fictl/device/element.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/ldmatrix.cuh>
#include <fictl/device/mma.cuh>
#include <fictl/device/swizzle.cuh>

namespace blocks {

namespace device = fictl::device;
using fictl::Launch;
using fictl::View;

namespace {

constexpr int kRows = 16;
constexpr int kChunks = 2;

device::LaunchConfig one_block(const Launch& launch, int64_t threads) {
  device::LaunchConfig config;
  config.grid = dim3(1);
  config.block = dim3(static_cast<unsigned>(threads));
  config.stream = launch.stream;
  return config;
}

template <int64_t N>
__global__ void PlacesKernel(int* out) {
  const int row = threadIdx.x / N;
  const int chunk = threadIdx.x % N;
  out[threadIdx.x] = device::swizzled<N>(row, chunk);
}

// Chunk i by lane i, in two groups of which the first is waited for alone. A lane sees another's.
__global__ void CopyKernel(const uint4* from, const int* bytes, uint4* out) {
  __shared__ uint4 tile[32];
  const int lane = threadIdx.x;
  const int other = lane ^ 1;
  if (lane < 16) device::copy_async(&tile[lane], &from[lane], bytes[lane]);
  device::copy_commit();
  if (lane >= 16) device::copy_async(&tile[lane], &from[lane], bytes[lane]);
  device::copy_commit();
  device::copy_wait<1>();
  __syncwarp();
  if (lane < 16) out[other] = tile[other];
  device::copy_wait<0>();
  __syncwarp();
  if (lane >= 16) out[other] = tile[other];
}

__global__ void MatricesKernel(const uint4* rows, uint4* out, bool transposed) {
  __shared__ uint4 tile[32];
  const int lane = threadIdx.x;
  tile[lane] = rows[lane];
  __syncwarp();
  uint32_t got[4];
  if (transposed) {
    device::ldmatrix_x4_trans(got, &tile[lane]);
  } else {
    device::ldmatrix_x4(got, &tile[lane]);
  }
  out[lane] = make_uint4(got[0], got[1], got[2], got[3]);
}

// A lane brings one chunk.
template <typename T>
__device__ void bring(uint4* to, const T* from) {
  const int row = threadIdx.x / kChunks;
  const int chunk = threadIdx.x % kChunks;
  device::copy_async(to + device::swizzled<kChunks>(row, chunk), from + row * 16 + chunk * 8);
}

// out[16][16] = a[16][16] b[16][16]^T, or a b.
template <typename T>
__global__ void ProductKernel(const T* a, const T* b, float* out, bool b_along_n) {
  __shared__ uint4 tile_a[kRows * kChunks];
  __shared__ uint4 tile_b[kRows * kChunks];
  bring(tile_a, a);
  bring(tile_b, b);
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
  DISPATCH_INT(launch, chunks, N, (1, 2, 4, 5, 8, 10, 12, 16, 20, 24, 32), {
    CUDA_CHECK(launch,
               device::launch<PlacesKernel<N>>(one_block(launch, out.numel()), out.data<int>()));
  });
}

void copy(const Launch& launch, View out, View from, View bytes) {
  CUDA_CHECK(launch, device::launch<CopyKernel>(one_block(launch, 32), from.data<const uint4>(),
                                                bytes.data<const int>(), out.data<uint4>()));
}

void matrices(const Launch& launch, View out, View rows, bool transposed) {
  CUDA_CHECK(launch, device::launch<MatricesKernel>(one_block(launch, 32), rows.data<const uint4>(),
                                                    out.data<uint4>(), transposed));
}

void product(const Launch& launch, View out, View a, View b, bool b_along_n) {
  DISPATCH_DTYPE(launch, a, T, (__half, __nv_bfloat16), {
    CUDA_CHECK(launch,
               device::launch<ProductKernel<T>>(one_block(launch, 32), a.data<const T>(),
                                                b.data<const T>(), out.data<float>(), b_along_n));
  });
}

}  // namespace blocks
