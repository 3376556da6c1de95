// Bulk copies: boxes of tensors of every rank, plain memory, reductions; and the making of maps.
#include <cuda.h>
#include <cudaTypedefs.h>

#include <fictl/device/hopper/bulk_copy.cuh>
#include <fictl/device/hopper/proxy.cuh>
#include <fictl/device/hopper/tensor_map.cuh>

using fictl::device::Mbarrier;
using fictl::device::shared_address;

namespace {

struct Corner {
  int at[5];
};

constexpr int kThreads = 64;

#define LOAD(RANK, COORDINATES)                                                                 \
  asm volatile("cp.async.bulk.tensor." RANK                                                     \
               "d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {" COORDINATES \
               "}], [%2];" ::"r"(shared_address(tile)),                                         \
               "l"(map), "r"(barrier.address()), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]),      \
               "r"(c.at[3]), "r"(c.at[4])                                                       \
               : "memory")
#define STORE(OPCODE, RANK, COORDINATES, KIND)                                                    \
  asm volatile(OPCODE ".tensor." RANK "d.global.shared::cta" KIND                                 \
                      ".tile.bulk_group.L2::cache_hint [%0, {" COORDINATES                        \
                      "}], [%1], %7;" ::"l"(map),                                                 \
               "r"(shared_address(tile)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), \
               "r"(c.at[4]), "l"(0x12F0000000000000)                                              \
               : "memory")

__device__ void load(int rank, const void* tile, const CUtensorMap* map, const Mbarrier& barrier,
                     const Corner& c) {
  if (rank == 1) LOAD("1", "%3");
  if (rank == 2) LOAD("2", "%3, %4");
  if (rank == 3) LOAD("3", "%3, %4, %5");
  if (rank == 4) LOAD("4", "%3, %4, %5, %6");
  if (rank == 5) LOAD("5", "%3, %4, %5, %6, %7");
}

__device__ void store(int rank, bool adds, const void* tile, const CUtensorMap* map,
                      const Corner& c) {
  if (adds) {
    if (rank == 1) STORE("cp.reduce.async.bulk", "1", "%2", ".add");
    if (rank == 2) STORE("cp.reduce.async.bulk", "2", "%2, %3", ".add");
    if (rank == 3) STORE("cp.reduce.async.bulk", "3", "%2, %3, %4", ".add");
    return;
  }
  if (rank == 1) STORE("cp.async.bulk", "1", "%2", "");
  if (rank == 2) STORE("cp.async.bulk", "2", "%2, %3", "");
  if (rank == 3) STORE("cp.async.bulk", "3", "%2, %3, %4", "");
  if (rank == 4) STORE("cp.async.bulk", "4", "%2, %3, %4, %5", "");
  if (rank == 5) STORE("cp.async.bulk", "5", "%2, %3, %4, %5, %6", "");
}

// The bytes of shared memory that a load has written, from `offset` on.
__device__ void dump(const CUtensorMap* map, int rank, const Corner& corner, uint32_t bytes,
                     uint32_t offset, uint8_t* out) {
  extern __shared__ alignas(1024) uint8_t shared[];
  __shared__ Mbarrier barrier;
  if (threadIdx.x == 0) {
    barrier.init(1);
    fictl::device::fence_mbarrier_init();
  }
  __syncthreads();
  uint8_t* tile = shared + offset;
  if (threadIdx.x == 0) {
    fictl::device::prefetch_tensor_map(*map);
    barrier.arrive_and_expect(bytes);
    load(rank, tile, map, barrier, corner);
  }
  barrier.wait(0);
  for (uint32_t i = threadIdx.x; i < bytes; i += kThreads) out[i] = tile[i];
}

__global__ void Load(const __grid_constant__ CUtensorMap map, int rank, Corner corner,
                     uint32_t bytes, uint32_t offset, uint8_t* out) {
  dump(&map, rank, corner, bytes, offset, out);
}

// Maps within a struct of parameters, and in the two memories of the module.
struct Parameters {
  int before;
  CUtensorMap map;
};
__global__ void LoadByStruct(const __grid_constant__ Parameters given, int rank, Corner corner,
                             uint32_t bytes, uint8_t* out) {
  dump(&given.map, rank, corner, bytes, 0, out);
}
__constant__ CUtensorMap constant_map;
__global__ void LoadByConstant(int rank, Corner corner, uint32_t bytes, uint8_t* out) {
  dump(&constant_map, rank, corner, bytes, 0, out);
}
__global__ void LoadByPointer(const CUtensorMap* map, int rank, Corner corner, uint32_t bytes,
                              uint8_t* out) {
  dump(map, rank, corner, bytes, 0, out);
}

__global__ void Edit(CUtensorMap* map, const CUtensorMap* other, uint32_t bytes, uint8_t* out) {
  extern __shared__ alignas(1024) uint8_t tile[];
  __shared__ Mbarrier barrier;
  barrier.init(1);
  barrier.arrive_and_expect(bytes);
  load(2, tile, map, barrier, {});
  *map = *other;
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
  barrier.wait(0);
  for (uint32_t i = 0; i < bytes; ++i) out[i] = tile[i];
}

__global__ void Store(const __grid_constant__ CUtensorMap map, int rank, Corner corner,
                      uint32_t bytes, int adds, const uint8_t* in) {
  extern __shared__ alignas(1024) uint8_t shared[];
  for (uint32_t i = threadIdx.x; i < bytes; i += kThreads) shared[i] = in[i];
  fictl::device::fence_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    store(rank, adds != 0, shared, &map, corner);
    fictl::device::bulk_commit();
    fictl::device::bulk_wait_read<0>();
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < bytes; i += kThreads) shared[i] = 0xEE;
}

#define REDUCE(KIND)                                                     \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group" KIND \
               " [%0], [%1], %2;" ::"l"(out),                            \
               "r"(shared_address(tile)), "r"(bytes)                     \
               : "memory")

// Through shared memory: in by one bulk copy, out by another, which combines.
__global__ void Plain(const uint8_t* in, uint8_t* out, uint32_t bytes, int which) {
  extern __shared__ alignas(128) uint8_t tile[];
  __shared__ Mbarrier barrier;
  if (threadIdx.x != 0) return;
  barrier.init(1);
  fictl::device::fence_mbarrier_init();
  barrier.arrive_and_expect(bytes);
  if (which % 2 == 0) {
    fictl::device::load_bulk(tile, in, bytes, barrier);
  } else {
    asm volatile(
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(tile)),
        "l"(in), "r"(bytes), "r"(barrier.address()), "l"(0x14F0000000000000)
        : "memory");
  }
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(in), "r"(bytes) : "memory");
  barrier.wait(0);
  if (which == 0) fictl::device::store_bulk(out, tile, bytes);
  if (which == 1) REDUCE(".add.f32");
  if (which == 2) REDUCE(".add.noftz.f16");
  if (which == 3) REDUCE(".add.noftz.bf16");
  if (which == 4) REDUCE(".add.s32");
  if (which == 5) REDUCE(".min.s32");
  if (which == 6) REDUCE(".max.u64");
  if (which == 7) REDUCE(".and.b32");
  if (which == 8) REDUCE(".or.b32");
  if (which == 9) REDUCE(".xor.b64");
  if (which == 10) REDUCE(".add.f64");
  if (which == 11) REDUCE(".max.bf16");
  fictl::device::bulk_commit();
  fictl::device::bulk_wait<0>();
}

// Within shared memory, as between the blocks of a cluster.
__global__ void Within(const int* in, int* out) {
  __shared__ alignas(128) int tiles[2][64];
  __shared__ Mbarrier barrier;
  tiles[0][threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x == 0) barrier.init(1);
  fictl::device::fence_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier.arrive_and_expect(sizeof(tiles[0]));
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(shared_address(tiles[1])),
        "r"(shared_address(tiles[0])), "r"(static_cast<uint32_t>(sizeof(tiles[0]))),
        "r"(barrier.address())
        : "memory");
  }
  barrier.wait(0);
  out[threadIdx.x] = tiles[1][threadIdx.x];
}

// Two groups: the first has been written when one may be pending.
__global__ void Groups(int* out, int pending) {
  __shared__ alignas(128) int tiles[3][32];
  for (int k = 0; k < 3; ++k) tiles[k][threadIdx.x] = k + 1;
  fictl::device::fence_async_shared();
  __syncwarp();
  if (threadIdx.x != 0) return;
  for (int k = 0; k < 3; ++k) {
    fictl::device::store_bulk(out + k * 32, tiles[k], 128);
    fictl::device::bulk_commit();
  }
  if (pending == 1) fictl::device::bulk_wait<1>();
  if (pending == 2) fictl::device::bulk_wait_read<2>();
  for (int k = 0; k < 3; ++k) out[96 + k] = reinterpret_cast<volatile int*>(out)[k * 32];
}

#undef LOAD
#undef STORE
#undef REDUCE

cudaError_t finish() {
  const cudaError_t launched = cudaGetLastError();
  return launched != cudaSuccess ? launched : cudaDeviceSynchronize();
}

}  // namespace

// A map, as cuTensorMapEncodeTiled makes it; `map` is not at the address that is asked for.
extern "C" int encode(CUtensorMap* map, int type, int rank, void* data, const cuuint64_t* sizes,
                      const cuuint64_t* strides, const cuuint32_t* box, const cuuint32_t* steps,
                      int interleave, int swizzle, int fill) {
  PFN_cuTensorMapEncodeTiled_v12000 function = nullptr;
  cudaDriverEntryPointQueryResult status;
  const cudaError_t found = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled",
                                                             reinterpret_cast<void**>(&function),
                                                             12000, cudaEnableDefault, &status);
  if (found != cudaSuccess || status != cudaDriverEntryPointSuccess) return -1;
  return function(map, static_cast<CUtensorMapDataType>(type), rank, data, sizes, strides, box,
                  steps, static_cast<CUtensorMapInterleave>(interleave),
                  static_cast<CUtensorMapSwizzle>(swizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                  static_cast<CUtensorMapFloatOOBfill>(fill));
}

extern "C" int other_entry_points() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status;
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &status);
  if (function == nullptr || status != cudaDriverEntryPointSuccess) return 1;
  cudaGetDriverEntryPoint("cuMemcpy", &function, cudaEnableDefault, &status);
  return function == nullptr && status == cudaDriverEntryPointSymbolNotFound ? 0 : 2;
}

extern "C" int load_box(const CUtensorMap* map, int where, int rank, const int* at, uint32_t bytes,
                        uint32_t offset, uint8_t* out) {
  Corner corner;
  for (int i = 0; i < 5; ++i) corner.at[i] = at[i];
  const uint32_t shared = bytes + offset;
  if (where == 0) Load<<<1, kThreads, shared>>>(*map, rank, corner, bytes, offset, out);
  if (where == 1) LoadByStruct<<<1, kThreads, shared>>>({1, *map}, rank, corner, bytes, out);
  if (where == 2) {
    cudaMemcpyToSymbol(constant_map, map, sizeof *map);
    LoadByConstant<<<1, kThreads, shared>>>(rank, corner, bytes, out);
  }
  if (where == 3) LoadByPointer<<<1, kThreads, shared>>>(map, rank, corner, bytes, out);
  return finish();
}

extern "C" int edit(CUtensorMap* map, const CUtensorMap* other, uint32_t bytes, uint8_t* out) {
  Edit<<<1, 1, bytes>>>(map, other, bytes, out);
  return finish();
}

extern "C" int store_box(const CUtensorMap* map, int rank, const int* at, uint32_t bytes, int adds,
                         const uint8_t* in) {
  Corner corner;
  for (int i = 0; i < 5; ++i) corner.at[i] = at[i];
  Store<<<1, kThreads, bytes>>>(*map, rank, corner, bytes, adds, in);
  return finish();
}

extern "C" int plain(const uint8_t* in, uint8_t* out, uint32_t bytes, int which) {
  Plain<<<1, 32, bytes>>>(in, out, bytes, which);
  return finish();
}

extern "C" int within(const int* in, int* out) {
  Within<<<1, 64>>>(in, out);
  return finish();
}

extern "C" int groups(int* out, int pending) {
  Groups<<<1, 32>>>(out, pending);
  return finish();
}
