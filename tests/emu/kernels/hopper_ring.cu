// A producer and consumers over a ring of stages, as GEMMs have it; and what goes wrong with one.
#include <fictl/device/hopper/bulk_copy.cuh>
#include <fictl/device/hopper/proxy.cuh>
#include <fictl/device/hopper/ring.cuh>
#include <fictl/device/hopper/tensor_map.cuh>

namespace fictl::device {
namespace {

enum Mistake {
  kNone,
  kNoWaitForFull,      // consumers read what may not have arrived
  kNextParity,         // they wait for the phase before, which is over
  kNoWaitForEmpty,     // the producer refills what is still being read
  kClampedBytes,       // it expects what the tensor has, and not the whole box
  kNoRelease,          // one consumer warp of two does not hand stages back
  kReleaseByAllLanes,  // each lane of a consumer warp hands them back
  kNoExpect,           // nobody arrives at `full`
  kReuseBeforeRead,    // the staging tile is rewritten while it is being stored
};

constexpr int kWarps = 2, kRows = 32, kColumns = 64;  // of a tile, fp16

template <int kStages>
struct Shared {
  __half tiles[kStages][kRows][kColumns];
  __half result[kRows][kColumns];
  Ring<kStages> ring;
};

// out tile = sum of the tiles of a row of tiles of x.
template <int kStages, int kMistake>
__global__ void Sum(const __grid_constant__ CUtensorMap x, const __grid_constant__ CUtensorMap out,
                    int tiles) {
  extern __shared__ alignas(1024) uint8_t memory[];
  auto& shared = *reinterpret_cast<Shared<kStages>*>(memory);
  Ring<kStages>& ring = shared.ring;
  const int warp = threadIdx.x / 32, row = blockIdx.x * kRows;
  if (threadIdx.x == 0) ring.init(kWarps);
  __syncthreads();
  RingPosition<kStages> at;
  if (warp == kWarps) {
    if (threadIdx.x % 32 == 0) {
      for (int k = 0; k < tiles; ++k, at.advance()) {
        if (kMistake != kNoWaitForEmpty) ring.wait_empty(at);
        constexpr uint32_t kBytes = kRows * kColumns * 2;
        if (kMistake != kNoExpect) {
          ring.expect(at, kMistake == kClampedBytes && k + 1 == tiles ? kBytes / 2 : kBytes);
        }
        load_tensor(shared.tiles[at.stage], x, ring.full[at.stage], k * kColumns, row,
                    CacheHint::kEvictFirst);
      }
    }
    return;
  }
  float sums[kRows * kColumns / (32 * kWarps)] = {};
  for (int k = 0; k < tiles; ++k, at.advance()) {
    if (kMistake == kNextParity) {
      ring.full[at.stage].wait(at.parity ^ 1);
    } else if (kMistake != kNoWaitForFull) {
      ring.wait_full(at);
    }
    const __half* tile = &shared.tiles[at.stage][0][0];
    for (int i = 0; i < kRows * kColumns / (32 * kWarps); ++i) {
      const uint32_t byte = (i * 32 * kWarps + threadIdx.x) * 2;
      sums[i] += __half2float(tile[swizzled_byte<Swizzle::k128>(byte) / 2]);
    }
    fence_async_shared();
    __syncwarp();
    const bool releases = kMistake == kReleaseByAllLanes || threadIdx.x % 32 == 0;
    if (releases && !(kMistake == kNoRelease && warp == 1)) ring.release(at);
  }
  // In two halves by way of one tile: the second may be written when the first has been read.
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < kRows * kColumns / (32 * kWarps); ++i) {
      const uint32_t byte = (i * 32 * kWarps + threadIdx.x) * 2;
      __half* result = &shared.result[0][0];
      result[swizzled_byte<Swizzle::k128>(byte) / 2] = __float2half(half == 0 ? sums[i] : -sums[i]);
    }
    fence_async_shared();
    asm volatile("bar.sync 1, 64;" ::: "memory");
    if (threadIdx.x == 0) {
      store_tensor(out, shared.result, half * kColumns, row);
      bulk_commit();
      if (kMistake != kReuseBeforeRead) bulk_wait_read<0>();
    }
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
}

template <int kStages, int kMistake>
cudaError_t launch(const CUtensorMap& x, const CUtensorMap& out, int tiles, int blocks) {
  const auto kernel = Sum<kStages, kMistake>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10);
  kernel<<<blocks, 32 * (kWarps + 1), sizeof(Shared<kStages>)>>>(x, out, tiles);
  const cudaError_t launched = cudaGetLastError();
  return launched != cudaSuccess ? launched : cudaDeviceSynchronize();
}

// The load alone of a GEMM of 128 x 256 x 256: 4 steps of 48 KiB for 384 threads.
__global__ void Gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                     int* out) {
  extern __shared__ alignas(1024) uint8_t memory[];
  constexpr int kStages = 4, kStage = (128 + 256) * 128;
  auto& ring = *reinterpret_cast<Ring<kStages>*>(memory + kStages * kStage);
  if (threadIdx.x == 0) ring.init(8);
  __syncthreads();
  RingPosition<kStages> at;
  if (threadIdx.x >= 256) {
    if (threadIdx.x != 256) return;
    for (int k = 0; k < 4; ++k, at.advance()) {
      ring.wait_empty(at);
      ring.expect(at, kStage);
      uint8_t* tile = memory + at.stage * kStage;
      load_tensor(tile, a, ring.full[at.stage], k * 64, 0);
      load_tensor(tile + 128 * 128, b, ring.full[at.stage], k * 64, 0);
    }
    return;
  }
  int sum = 0;
  for (int k = 0; k < 4; ++k, at.advance()) {
    ring.wait_full(at);
    sum += memory[at.stage * kStage + threadIdx.x * 128];
    fence_async_shared();
    __syncwarp();
    if (threadIdx.x % 32 == 0) ring.release(at);
  }
  out[threadIdx.x] = sum;
}

cudaError_t matrix(CUtensorMap& map, const __half* data, int64_t rows, int64_t columns,
                   uint32_t box_rows) {
  TensorMapSpec spec = TensorMapSpec::matrix(data, rows, columns, columns);
  spec.box[0] = kColumns;
  spec.box[1] = box_rows;
  spec.swizzle = Swizzle::k128;
  return make_tensor_map(spec, &map);
}

}  // namespace
}  // namespace fictl::device

using namespace fictl::device;

// x is rows x columns, out is rows x 128.
extern "C" int sum(int stages, int mistake, const __half* x, __half* out, int rows, int columns) {
  CUtensorMap from, to;
  if (matrix(from, x, rows, columns, kRows) != cudaSuccess) return -1;
  if (matrix(to, out, rows, 2 * kColumns, kRows) != cudaSuccess) return -1;
  const int tiles = (columns + kColumns - 1) / kColumns, blocks = (rows + kRows - 1) / kRows;
  if (stages == 1) return launch<1, kNone>(from, to, tiles, blocks);
  if (stages == 3) return launch<3, kNone>(from, to, tiles, blocks);
  using Launch = cudaError_t (*)(const CUtensorMap&, const CUtensorMap&, int, int);
  constexpr Launch kLaunches[] = {launch<2, kNone>,
                                  launch<2, kNoWaitForFull>,
                                  launch<2, kNextParity>,
                                  launch<2, kNoWaitForEmpty>,
                                  launch<2, kClampedBytes>,
                                  launch<2, kNoRelease>,
                                  launch<2, kReleaseByAllLanes>,
                                  launch<2, kNoExpect>,
                                  launch<2, kReuseBeforeRead>};
  return kLaunches[mistake](from, to, tiles, blocks);
}

extern "C" int gemm(const __half* a, const __half* b, int* out) {
  CUtensorMap map_a, map_b;
  if (matrix(map_a, a, 128, 256, 128) != cudaSuccess) return -1;
  if (matrix(map_b, b, 256, 256, 256) != cudaSuccess) return -1;
  constexpr int kShared = 4 * (128 + 256) * 128 + 256;
  cudaFuncSetAttribute(Gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
  Gemm<<<1, 384, kShared>>>(map_a, map_b, out);
  return cudaDeviceSynchronize();
}
