// A GEMM of 128 x 128 tiles with a producer warp, a ring of two stages and two consumer
// warpgroups, and the mistakes that people make in one. 0 is the correct kernel.
#include <cuda_bf16.h>

#include <fictl/device/hopper/accumulator.cuh>
#include <fictl/device/hopper/bulk_copy.cuh>
#include <fictl/device/hopper/named_barrier.cuh>
#include <fictl/device/hopper/proxy.cuh>
#include <fictl/device/hopper/registers.cuh>
#include <fictl/device/hopper/ring.cuh>
#include <fictl/device/hopper/tensor_map.cuh>
#include <fictl/device/hopper/wgmma.cuh>
#include <fictl/device/hopper/wgmma/bf16.cuh>

namespace fictl::device {
namespace {

enum Mistake {
  kNone,
  kExpectLess,
  kNoFenceBeforeStore,
  kNoFenceAfterRead,
  kStoreWaitOffByOne,
  kMapEdited,
  kNoWaitForFull,
  kConsumerParity,
  kWaitBehindProduct,
  kRegisterPool,
  kAccumulatorTouched,
  kNoProductFence,
  kReleaseBeforeWait,
  kNoWaitForEmpty,
  kProducerParity,
  kUncommittedProduct,
  kUncommittedStore,
  kNoWaitForStore,
  kBarrierTwice,
  kBarrierOverwritten,
  kNoInitFence,
  kLoadNotAwaited,
  kOneWarpKeepsStages,
  kNoFenceOfGlobal,
  kTileStoredTooEarly,
  kBoxOutside,
};

constexpr int kTile = 128, kStepK = 64, kStages = 2, kHalf = 64;
constexpr uint32_t kOperand = kTile * kStepK * 2;  // bytes
using Position = RingPosition<kStages>;

struct Shared {
  alignas(1024) uint8_t a[kStages][kOperand];
  alignas(1024) uint8_t b[kStages][kOperand];
  alignas(1024) uint8_t panels[2][64 * 128];
  alignas(1024) uint8_t beyond[kOperand];
  Ring<kStages> ring;
  Mbarrier last;
};

// A is copied by ordinary stores first, as kernels append to a cache that they read.
struct Arguments {
  const uint4* given;
  uint4* a;
  CUtensorMap* maps;  // of B, and another
  int steps;
  int mistake;
};

class Gemm {
 public:
  __device__ Gemm(Shared& shared, const CUtensorMap& a, const CUtensorMap& d,
                  const Arguments& arguments)
      : shared_(shared), ring_(shared.ring), a_(a), d_(d), arguments_(arguments) {}

  __device__ void begin() {
    if (threadIdx.x == 0) {
      for (int i = 0; i < kStages; ++i) ring_.full[i].init(1);
      for (int i = 0; i < kStages; ++i) ring_.empty[i].init(8);
      shared_.last.init(1);
      if (!is(kNoInitFence)) fence_mbarrier_init();
    }
    const int chunks = kTile * arguments_.steps * kStepK / 8;
    for (int i = threadIdx.x; i < chunks; i += blockDim.x) arguments_.a[i] = arguments_.given[i];
    if (!is(kNoFenceOfGlobal)) fence_async_global();
    __syncthreads();
  }

  __device__ void produce() {
    Position at;
    for (int k = 0; k < arguments_.steps; ++k, at.advance()) {
      if (is(kProducerParity)) {
        ring_.empty[at.stage].wait(1);
      } else if (!is(kNoWaitForEmpty)) {
        ring_.wait_empty(at);
      }
      ring_.expect(at, is(kExpectLess) ? kOperand : 2 * kOperand);
      load_tensor(shared_.a[at.stage], a_, ring_.full[at.stage], k * kStepK, 0);
      load_tensor(shared_.b[at.stage], arguments_.maps[0], ring_.full[at.stage], k * kStepK, 0);
    }
    if (is(kMapEdited)) arguments_.maps[0] = arguments_.maps[1];
    if (is(kLoadNotAwaited) || is(kBoxOutside)) {
      shared_.last.arrive_and_expect(kOperand);
      load_tensor(shared_.beyond, a_, shared_.last, is(kBoxOutside) ? 1 << 20 : 0, 0);
      if (is(kBoxOutside)) shared_.last.wait(0);
    }
  }

  __device__ void consume(int warpgroup) {
    thread_ = threadIdx.x % kWarpgroup;
    group_ = warpgroup;
    float sums[kTile / 2] = {};
    float checksum = multiply(sums);
    pin(sums);
    store(sums, checksum);
  }

 private:
  __device__ bool is(Mistake mistake) const { return arguments_.mistake == mistake; }

  __device__ void wait_full(const Position& at) {
    if (is(kConsumerParity)) {
      ring_.full[at.stage].wait(at.parity ^ 1);
    } else {
      ring_.wait_full(at);
    }
  }

  __device__ void release(const Position& at) {
    if (is(kOneWarpKeepsStages) && threadIdx.x / 32 == 7) return;
    if (threadIdx.x % 32 == 0) ring_.release(at);
  }

  __device__ void issue(float (&sums)[kTile / 2], const Position& at) {
    const TileDescriptor a = k_major_tile(shared_.a[at.stage] + group_ * 64 * 128);
    const TileDescriptor b = k_major_tile(shared_.b[at.stage]);
    if (!is(kNoProductFence)) wgmma_begin();
    for (int k = 0; k < kStepK / 16; ++k) {
      wgmma<__nv_bfloat16>(sums, a.advance(32 * k), b.advance(32 * k));
    }
    if (!is(kUncommittedProduct)) wgmma_commit();
  }

  // Returns a sum over what its thread reads of the tiles.
  __device__ float multiply(float (&sums)[kTile / 2]) {
    float checksum = 0;
    Position at;
    pin(sums);
    for (int k = 0; k < arguments_.steps; ++k, at.advance()) {
      if (!is(kNoWaitForFull) && !is(kWaitBehindProduct)) wait_full(at);
      issue(sums, at);
      if (is(kReleaseBeforeWait)) release(at);
      if (is(kAccumulatorTouched)) checksum += sums[threadIdx.x % 2];
      wgmma_wait<0>();
      if (is(kWaitBehindProduct)) wait_full(at);
      checksum += reinterpret_cast<const uint16_t*>(shared_.a[at.stage])[thread_] == 0;
      if (!is(kNoFenceAfterRead)) fence_async_shared();
      __syncwarp();
      if (!is(kReleaseBeforeWait)) release(at);
    }
    return checksum;
  }

  // 64 rows in two halves of 64 columns, by way of one panel.
  __device__ void store(const float (&sums)[kTile / 2], float checksum) {
    const NamedBarrier together{1 + group_, kWarpgroup};
    const AccumulatorLayout layout{thread_};
    uint8_t* panel = shared_.panels[group_];
    for (int half = 0; half < 2; ++half) {
      for (int i = 0; i < kTile / 4; i += 2) {
        const float x = sums[half * kTile / 4 + i], y = sums[half * kTile / 4 + i + 1];
        const uint32_t byte = layout.row(i) * 128 + layout.column(i) * 2;
        *reinterpret_cast<__nv_bfloat162*>(panel + swizzled_byte<Swizzle::k128>(byte)) =
            __floats2bfloat162_rn(checksum < 0 ? 0.0f : x, y);
      }
      if (!is(kNoFenceBeforeStore)) fence_async_shared();
      if (!is(kTileStoredTooEarly)) together.sync();
      if (thread_ == 0) send(panel, half);
      together.sync();
    }
    if (is(kBarrierTwice)) twice();
    if (is(kBarrierOverwritten)) *reinterpret_cast<volatile uint8_t*>(&ring_.full[1]) = 7;
    if (thread_ == 0 && !is(kNoWaitForStore)) bulk_wait_read<0>();
  }

  __device__ void send(const uint8_t* panel, int half) {
    store_tensor(d_, panel, half * kHalf, group_ * 64);
    if (!is(kUncommittedStore)) bulk_commit();
    if (is(kNoWaitForStore)) return;
    if (is(kStoreWaitOffByOne)) {
      bulk_wait_read<1>();
    } else {
      bulk_wait_read<0>();
    }
  }

  __device__ void twice() {
    const NamedBarrier signal{5, 2 * kWarpgroup};
    if (group_ == 0) {
      signal.arrive();
      signal.arrive();
    } else {
      signal.sync();
    }
  }

  Shared& shared_;
  Ring<kStages>& ring_;
  const CUtensorMap& a_;
  const CUtensorMap& d_;
  const Arguments& arguments_;
  int thread_ = 0, group_ = 0;
};

__global__ void __launch_bounds__(384, 1)
    GemmKernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap d,
               const __grid_constant__ Arguments arguments) {
  extern __shared__ alignas(1024) uint8_t memory[];
  Gemm gemm(*reinterpret_cast<Shared*>(memory), a, d, arguments);
  gemm.begin();
  if (threadIdx.x >= 256) {
    if (arguments.mistake != kRegisterPool) give_registers_up<40>();
    if (threadIdx.x == 256) gemm.produce();
  } else {
    take_registers<232>();
    gemm.consume(threadIdx.x / kWarpgroup);
  }
}

// ---- a product of a tile that threads have written: d = x x^T ----

enum Way { kStores, kStoresUnfenced, kCopies, kCopiesUnfenced };

__global__ void __launch_bounds__(128, 1) SquareKernel(const uint4* x, float* d, int way) {
  __shared__ alignas(1024) uint4 tile[64 * 8];
  for (int i = threadIdx.x; i < 64 * 8; i += 128) {
    uint4* to = &tile[swizzled_byte<Swizzle::k128>(i * 16) / 16];
    if (way == kStores || way == kStoresUnfenced) {
      *to = x[i];
    } else {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(x + i)
                   : "memory");
    }
  }
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  if (way == kStores || way == kCopies) fence_async_shared();
  __syncthreads();
  float sums[32];
  const TileDescriptor both = k_major_tile(tile);
  pin(sums);
  wgmma_begin();
  for (int k = 0; k < 4; ++k) {
    wgmma<__nv_bfloat16>(sums, both.advance(32 * k), both.advance(32 * k), k > 0);
  }
  wgmma_commit();
  wgmma_wait<0>();
  pin(sums);
  const AccumulatorLayout layout{static_cast<int>(threadIdx.x)};
  for (int i = 0; i < 32; ++i) d[layout.row(i) * 64 + layout.column(i)] = sums[i];
}

cudaError_t matrix(CUtensorMap& map, const void* data, int rows, int columns, uint32_t box_rows) {
  auto spec =
      TensorMapSpec::matrix(static_cast<const __nv_bfloat16*>(data), rows, columns, columns);
  spec.box[0] = kHalf;
  spec.box[1] = box_rows;
  spec.swizzle = Swizzle::k128;
  return make_tensor_map(spec, &map);
}

int finish() {
  const cudaError_t launched = cudaGetLastError();
  return launched != cudaSuccess ? launched : cudaDeviceSynchronize();
}

}  // namespace
}  // namespace fictl::device

using namespace fictl::device;

// d[128][128] = given b^T, by way of a; k is a multiple of 64. `maps` holds two.
extern "C" int gemm(int mistake, const void* given, void* a, const void* b, void* d, void* maps,
                    int k) {
  CUtensorMap of_a, of_d;
  auto* of_b = static_cast<CUtensorMap*>(maps);
  if (matrix(of_a, a, kTile, k, kTile) != cudaSuccess) return -1;
  if (matrix(of_b[0], b, kTile, k, kTile) != cudaSuccess) return -1;
  if (matrix(of_b[1], a, kTile, k, kTile) != cudaSuccess) return -1;
  if (matrix(of_d, d, kTile, kTile, 64) != cudaSuccess) return -1;
  cudaFuncSetAttribute(GemmKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared));
  const Arguments arguments{static_cast<const uint4*>(given), static_cast<uint4*>(a), of_b,
                            k / kStepK, mistake};
  GemmKernel<<<1, 384, sizeof(Shared)>>>(of_a, of_d, arguments);
  return finish();
}

// d[64][64] = x x^T, of 64 x 64.
extern "C" int square(int way, const void* x, float* d) {
  SquareKernel<<<1, 128>>>(static_cast<const uint4*>(x), d, way);
  return finish();
}
