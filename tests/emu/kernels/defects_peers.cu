// Clusters of two blocks that share tiles and signals, and the mistakes that people make with them.
// 0 is the correct kernel.
#include <fictl/device/cluster.cuh>
#include <fictl/device/hopper/bulk_copy.cuh>
#include <fictl/device/hopper/tensor_map.cuh>

namespace fictl::device {
namespace {

enum Mistake {
  kNone,
  kArrivalOfBlock,     // the release does not reach the other block
  kWaitOfBlock,        // nor does the acquire
  kReceiverNotArmed,   // it does not expect the bytes of a multicast
  kMaskBeyondCluster,  // the multicast goes to a block that does not exist
  kPeerEnds,           // a block ends while the other one still reaches its memory
};

constexpr uint32_t kRow = 64;

__device__ void arrive_of_block(Mbarrier& barrier, uint32_t rank) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.release.cta.shared::cluster.b64 _, [there];\n"
      "}" ::"r"(barrier.address()),
      "r"(rank)
      : "memory");
}

// Each block stores a row in the other one, and one of them loads a tile for both.
__global__ void PeersKernel(const __grid_constant__ CUtensorMap x, float* out, int mistake) {
  __shared__ alignas(128) float tile[kRow];
  __shared__ float inbox[kRow];
  __shared__ Mbarrier arrived, full;
  const uint32_t rank = Cluster::rank(), other = 1 - rank;
  if (threadIdx.x == 0) {
    arrived.init(kRow);
    full.init(1);
    fence_mbarrier_init();
  }
  Cluster::sync();
  if (threadIdx.x == 0) {
    const bool arms = mistake != kReceiverNotArmed || rank == 0;
    if (arms) full.arrive_and_expect(sizeof tile);
    const uint16_t mask = mistake == kMaskBeyondCluster ? 7 : 3;
    if (rank == 0) load_tensor_multicast(tile, x, full, mask, 0, 0);
  }
  if (mistake == kPeerEnds && rank == 1) return;
  full.wait(0);
  Cluster::at(inbox, other)[threadIdx.x] = tile[threadIdx.x] + rank;
  if (mistake == kArrivalOfBlock) {
    arrive_of_block(arrived, other);
  } else {
    arrived.arrive_at(other);
  }
  if (mistake == kWaitOfBlock) {
    arrived.wait(0);
  } else {
    arrived.wait_for_cluster(0);
  }
  out[rank * kRow + threadIdx.x] = inbox[threadIdx.x];
  Cluster::sync();
}

}  // namespace
}  // namespace fictl::device

using namespace fictl::device;

extern "C" int peers(int mistake, const float* x, float* out) {
  CUtensorMap map;
  auto spec = TensorMapSpec::matrix(x, 1, kRow, kRow);
  spec.box[0] = kRow;
  if (make_tensor_map(spec, &map) != cudaSuccess) return -1;
  LaunchConfig config;
  config.grid = dim3(2);
  config.block = dim3(kRow);
  config.cluster = dim3(2, 1, 1);
  const cudaError_t launched = launch<PeersKernel>(config, map, out, mistake);
  return launched != cudaSuccess ? launched : cudaDeviceSynchronize();
}
