// Step 3: a tile of 128 x 256 for two consumer warpgroups, which take registers from the
// producer's.
//
// An instruction of 64 x 256 x 16 reads 80 of the 128 bytes a clock that shared memory gives; one
// of 64 x 128 x 16 reads 96. A stage is released when the next one's products have been issued, so
// that the tensor cores find work while a warpgroup waits.
#include <fictl/device/hopper/registers.cuh>

#include "step.cuh"

namespace hopper_steps::step3 {

constexpr int kM = 128, kN = 256, kStages = 4;
constexpr int kConsumers = 2;
constexpr int kThreads = (1 + kConsumers) * kWarpgroup;

struct Stage {
  T a[kM][kStageK];
  T b[kN][kStageK];
};

struct Shared {
  Stage stages[kStages];
  Ring<kStages> ring;
};

__global__ void __launch_bounds__(kThreads, 1)
    Gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, T* d, int n,
         int k) {
#ifdef FICTL_HOPPER
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int row = blockIdx.y * kM, column = blockIdx.x * kN;
  // The same in all lanes of a warp, and known to be.
  const int role = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
  if (threadIdx.x == 0) shared.ring.init(kConsumers * 4);
  __syncthreads();

  RingPosition<kStages> at;
  if (role == 0) {
    give_registers_up<40>();
    if (threadIdx.x < 32 && elect_lane()) {
      for (int i = 0; i < k; i += kStageK, at.advance()) {
        Stage& stage = shared.stages[at.stage];
        shared.ring.wait_empty(at);
        shared.ring.expect(at, sizeof(Stage));
        load_tensor(stage.a, a, shared.ring.full[at.stage], i, row);
        load_tensor(stage.b, b, shared.ring.full[at.stage], i, column);
      }
    }
    return;
  }
  take_registers<232>();
  const int first_row = (role - 1) * kWgmmaM;
  float sums[kN / 2];
  pin(sums);
  RingPosition<kStages> before;
  for (int i = 0; i < k; i += kStageK, at.advance()) {
    const Stage& stage = shared.stages[at.stage];
    shared.ring.wait_full(at);
    wgmma_begin();
    multiply_stage(sums, stage.a[first_row], stage.b, i > 0);
    wgmma_commit();
    wgmma_wait<1>();
    if (i > 0 && threadIdx.x % 32 == 0) shared.ring.release(before);
    before = at;
  }
  wgmma_wait<0>();
  pin(sums);
  store_sums(sums, d + int64_t{row + first_row} * n + column, n);
#endif
}

}  // namespace hopper_steps::step3

extern "C" cudaError_t hopper_step3(const void* a, const void* b, void* d, int m, int n, int k,
                                    cudaStream_t stream) {
  using namespace hopper_steps;
  CUtensorMap maps[2];
  cudaError_t status = make_map(a, m, k, step3::kM, &maps[0]);
  if (status == cudaSuccess) status = make_map(b, n, k, step3::kN, &maps[1]);
  if (status != cudaSuccess) return status;
  LaunchConfig config;
  config.grid = dim3(n / step3::kN, m / step3::kM);
  config.block = dim3(step3::kThreads);
  config.stream = stream;
  config.shared_bytes = sizeof(step3::Shared);
  return launch<step3::Gemm>(config, maps[0], maps[1], static_cast<T*>(d), n, k);
}
