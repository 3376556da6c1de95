// What crosses the blocks of a cluster without being waited for: st.async, arrivals at barriers of
// others, and tensor copies to several blocks.
#include <cuda_runtime.h>

#include <cstdint>

#include <fictl/device/cluster.cuh>
#include <fictl/device/hopper/bulk_copy.cuh>
#include <fictl/device/hopper/distributed.cuh>
#include <fictl/device/hopper/mbarrier.cuh>
#include <fictl/device/hopper/tensor_map.cuh>

using namespace fictl::device;

namespace {

template <class... Args>
int launch(int x, int y, int threads, void (*kernel)(Args...), Args... args) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(x), static_cast<unsigned>(y), 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(x, y);
  config.blockDim = threads;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, args...);
}

__device__ void begin(Mbarrier& barrier, uint32_t arrivals) {
  if (threadIdx.x == 0) {
    barrier.init(arrivals);
    fence_mbarrier_init();
  }
  Cluster::sync();
}

}  // namespace

// The blocks of a pair exchange what their threads have, in stores of 4, 8 and 16 bytes.
template <int BYTES>
__global__ void StoreAsync(int bug, uint32_t* out) {
  constexpr int kWords = BYTES / 4;
  __shared__ alignas(16) uint32_t box[32 * kWords];
  __shared__ Mbarrier full;
  begin(full, 1);
  if (threadIdx.x == 0) full.arrive_and_expect(sizeof box);
  const uint32_t peer = Cluster::rank() ^ 1;
  const uint32_t to = address_at(box + threadIdx.x * kWords, peer), at = address_at(&full, peer);
  const uint32_t v = 1000 * Cluster::rank() + kWords * threadIdx.x;
  if (BYTES == 4) {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to),
        "r"(v), "r"(at)
        : "memory");
  } else if (BYTES == 8) {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, "
        "[%3];" ::"r"(to),
        "f"(__uint_as_float(v)), "f"(__uint_as_float(v + 1)), "r"(at)
        : "memory");
  } else {
    const uint64_t low = uint64_t{v + 1} << 32 | v, high = uint64_t{v + 3} << 32 | (v + 2);
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.s64 [%0], {%1, %2}, "
        "[%3];" ::"r"(to),
        "l"(low), "l"(high), "r"(at)
        : "memory");
  }
  if (!bug) full.wait_for_cluster(0);
  for (int i = threadIdx.x; i < 32 * kWords; i += 32) {
    out[Cluster::rank() * 32 * kWords + i] = box[i];  // TAKES
  }
  if (bug) full.wait_for_cluster(0);
}

extern "C" int store_async(int bytes, int bug, uint32_t* out) {
  if (bytes == 4) return launch(2, 1, 32, StoreAsync<4>, bug, out);
  if (bytes == 8) return launch(2, 1, 32, StoreAsync<8>, bug, out);
  return launch(2, 1, 32, StoreAsync<16>, bug, out);
}

// Block 0 collects words of the others; each tells it by an arrival at its barrier.
__global__ void ArriveAtOther(int relaxed, uint32_t* out) {
  __shared__ uint32_t words[4];
  __shared__ Mbarrier full;
  begin(full, 3);
  if (Cluster::rank() != 0) {
    if (threadIdx.x == 0) {
      Cluster::at(words, 0)[Cluster::rank()] = 10 + Cluster::rank();
      if (relaxed) {
        asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                         address_at(&full, 0))
                     : "memory");
      } else {
        full.arrive_at(0);
      }
    }
    return;
  }
  full.wait_for_cluster(0);
  if (threadIdx.x == 0) {
    for (int i = 1; i < 4; ++i) out[i] = words[i];  // COLLECTS
  }
}

extern "C" int arrive_at_other(int relaxed, uint32_t* out) {
  return launch(4, 1, 32, ArriveAtOther, relaxed, out);
}

// Block 1 announces the bytes that block 0 is to have, and stores them; block 0 just waits.
__global__ void ExpectAtOther(uint32_t* out) {
  __shared__ alignas(16) uint32_t box[4];
  __shared__ Mbarrier full;
  begin(full, 1);
  if (Cluster::rank() == 1 && threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 16;" ::"r"(
                     address_at(&full, 0))
                 : "memory");
    store_async(box, full, 0, make_uint4(1, 2, 3, 4));
  }
  if (Cluster::rank() == 0) {
    full.wait_for_cluster(0);
    if (threadIdx.x < 4) out[threadIdx.x] = box[threadIdx.x];
  }
}
extern "C" int expect_at_other(uint32_t* out) { return launch(2, 1, 32, ExpectAtOther, out); }

// What a wait at the barrier of another block says.
__global__ void WaitAtOther(uint32_t* out) {
  __shared__ Mbarrier full;
  begin(full, 1);
  uint32_t over = 0;
  if (threadIdx.x == 0) Cluster::at(&full, Cluster::rank() ^ 1)->try_wait(0);
  Cluster::sync();
  out[0] = over;
}
extern "C" int wait_at_other(uint32_t* out) { return launch(2, 1, 32, WaitAtOther, out); }

enum Mistake { kNone, kNoSuchBlock, kNotArmed, kLeaves };

// Every block loads its part of 8 rows, for all blocks of the cluster: each gets all of it.
__global__ void Multicast(const __grid_constant__ CUtensorMap map, int mistake, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ Mbarrier full;
  const int blocks = Cluster::size(), rank = Cluster::rank(), rows = 8 / blocks;
  begin(full, 1);
  if (mistake == kLeaves && rank == blocks - 1) return;
  if (threadIdx.x == 0) {
    const bool arms = mistake != kNotArmed || rank == 0;
    if (arms) full.arrive_and_expect(sizeof tile);
    if (!arms) full.arrive();
    const int mask = (1 << blocks) - 1;
    load_tensor_multicast(tile[rank * rows], map, full,
                          static_cast<uint16_t>(mistake == kNoSuchBlock ? mask << 1 : mask), 0,
                          rank * rows);
  }
  full.wait(0);
  for (int i = threadIdx.x; i < 256; i += 32) out[rank * 256 + i] = tile[i / 32][i % 32];
  Cluster::sync();
}

extern "C" int multicast(int x, int y, int mistake, const float* in, float* out) {
  TensorMapSpec spec = TensorMapSpec::of(in);
  spec = spec.with(32, 1, 32).with(8, 32, 8 / (x * y));
  CUtensorMap map;
  const cudaError_t status = make_tensor_map(spec, &map);
  if (status != cudaSuccess) return status;
  return launch(x, y, 32, Multicast, map, mistake, out);
}
