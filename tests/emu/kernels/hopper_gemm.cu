// fictl's own building blocks together: c = a b^T by a producer warpgroup that loads tiles, and two
// consumers that multiply; the result goes by way of shared memory.
#include <fictl/device/hopper/bulk_copy.cuh>
#include <fictl/device/hopper/elect.cuh>
#include <fictl/device/hopper/named_barrier.cuh>
#include <fictl/device/hopper/proxy.cuh>
#include <fictl/device/hopper/registers.cuh>
#include <fictl/device/hopper/ring.cuh>
#include <fictl/device/hopper/stmatrix.cuh>
#include <fictl/device/hopper/tensor_map.cuh>
#include <fictl/device/hopper/wgmma/bf16.cuh>

namespace fictl::device {
namespace {

using T = __nv_bfloat16;

constexpr int kM = 128, kN = 256, kK = 64, kStages = 2, kPanel = 64;

struct Stage {
  T a[kM][kK];
  T b[kN * kK];
};

struct Shared {
  Stage stages[kStages];
  T c[kN / kPanel][kM][kPanel];
  Ring<kStages> ring;
};

// B is n x k, or k x n where it is MN-major.
template <Major kMajorB>
__device__ void produce(Shared& shared, const CUtensorMap& a, const CUtensorMap& b, int steps) {
  RingPosition<kStages> at;
  for (int step = 0; step < steps; ++step, at.advance()) {
    Stage& stage = shared.stages[at.stage];
    Mbarrier& full = shared.ring.full[at.stage];
    shared.ring.wait_empty(at);
    shared.ring.expect(at, sizeof(Stage));
    load_tensor(stage.a, a, full, step * kK, blockIdx.y * kM);
    if (kMajorB == Major::kK) {
      load_tensor(stage.b, b, full, step * kK, blockIdx.x * kN);
      continue;
    }
    for (int panel = 0; panel < kN / kPanel; ++panel) {
      load_tensor(stage.b + panel * kPanel * kK, b, full, blockIdx.x * kN + panel * kPanel,
                  step * kK);
    }
  }
}

template <Major kMajorB>
__device__ void multiply(Shared& shared, float (&d)[kN / 2], int group, int steps) {
  RingPosition<kStages> at, before;
  pin(d);
  for (int step = 0; step < steps; ++step, at.advance()) {
    shared.ring.wait_full(at);
    const Stage& stage = shared.stages[at.stage];
    const TileDescriptor a = k_major_tile(stage.a[group * 64]);
    const TileDescriptor b =
        kMajorB == Major::kK ? k_major_tile(stage.b) : mn_major_tile(stage.b, kK);
    constexpr int kStepOfB = kMajorB == Major::kK ? 32 : 2048;
    wgmma_begin();
    for (int k = 0; k < kK / 16; ++k) {
      wgmma<T, Major::kK, kMajorB>(d, a.advance(32 * k), b.advance(kStepOfB * k), step + k != 0);
    }
    wgmma_commit();
    wgmma_wait<1>();
    if (step > 0) {
      // Any lane may: its wait covers all that its warp has read.
      if (threadIdx.x % 32 == 31) shared.ring.release(before);
      before.advance();
    }
  }
  wgmma_wait<0>();
  pin(d);
}

__device__ uint32_t pair(float low, float high) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const uint32_t&>(both);
}

__device__ void store(Shared& shared, const CUtensorMap& c, const float (&d)[kN / 2], int group) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const int row = group * 64 + warp * 16 + lane % 16;
  for (int j = 0; j < kN / 16; ++j) {
    const float* from = d + 8 * j;
    T* panel = &shared.c[j / 4][0][0];
    const uint32_t byte = row * 128 + j % 4 * 32 + lane / 16 * 16;
    stmatrix_x4(panel + swizzled_byte<Swizzle::k128>(byte) / 2, pair(from[0], from[1]),
                pair(from[2], from[3]), pair(from[4], from[5]), pair(from[6], from[7]));
  }
  fence_async_shared();
  NamedBarrier{1 + group, 128}.sync();
  if (threadIdx.x % 128 == 0) {
    for (int panel = 0; panel < kN / kPanel; ++panel) {
      store_tensor(c, shared.c[panel][group * 64], blockIdx.x * kN + panel * kPanel,
                   blockIdx.y * kM + group * 64);
    }
    bulk_commit();
    bulk_wait<0>();
  }
}

template <Major kMajorB>
__global__ void __launch_bounds__(384, 1)
    Gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
         const __grid_constant__ CUtensorMap c, int steps) {
  extern __shared__ alignas(1024) uint8_t memory[];
  auto& shared = *reinterpret_cast<Shared*>(memory);
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) shared.ring.init(8);
  __syncthreads();
  if (group == 2) {
    give_registers_up<24>();
    if (threadIdx.x / 32 == 8 && elect_lane()) produce<kMajorB>(shared, a, b, steps);
    return;
  }
  take_registers<240>();
  float d[kN / 2];
  multiply<kMajorB>(shared, d, group, steps);
  store(shared, c, d, group);
}

bool matrix(CUtensorMap& map, const T* data, int rows, int columns, uint32_t box_rows) {
  TensorMapSpec spec = TensorMapSpec::matrix(data, rows, columns, columns);
  spec.box[0] = 64;
  spec.box[1] = box_rows;
  spec.swizzle = Swizzle::k128;
  return make_tensor_map(spec, &map) == cudaSuccess;
}

template <Major kMajorB>
int launch(const CUtensorMap& a, const CUtensorMap& b, const CUtensorMap& c, dim3 grid, int steps) {
  const auto kernel = Gemm<kMajorB>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared));
  kernel<<<grid, 384, sizeof(Shared)>>>(a, b, c, steps);
  return cudaDeviceSynchronize();
}

}  // namespace
}  // namespace fictl::device

// a: m x k, c: m x n; b: n x k, or k x n.
extern "C" int gemm(int b_is_k_major, const __nv_bfloat16* a, const __nv_bfloat16* b,
                    __nv_bfloat16* c, int m, int n, int k) {
  using namespace fictl::device;
  CUtensorMap map_a, map_b, map_c;
  const bool made = matrix(map_a, a, m, k, kM) && matrix(map_c, c, m, n, 64) &&
                    (b_is_k_major ? matrix(map_b, b, n, k, kN) : matrix(map_b, b, k, n, kK));
  if (!made) return -1;
  const dim3 grid((n + kN - 1) / kN, (m + kM - 1) / kM);
  const int steps = (k + kK - 1) / kK;
  return b_is_k_major ? launch<Major::kK>(map_a, map_b, map_c, grid, steps)
                      : launch<Major::kMN>(map_a, map_b, map_c, grid, steps);
}
