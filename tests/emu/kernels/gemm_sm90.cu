// The shipped GEMM for Hopper in one configuration of each kind.
#include <cuda_bf16.h>

#include <fictl/device/hopper/wgmma/bf16.cuh>
#include <fictl/gemm/dense_sm90.cuh>

namespace {

using namespace fictl::gemm;
using fictl::device::Major;

struct Sums {
  static constexpr int kColumnsPerOutput = 1;
  __device__ float2 operator()(float2 sums, TileElement) const { return sums; }
};

struct Call {
  const void *a, *b;
  void* d;
  void* workspace;
  int64_t workspace_bytes;
  int m, n, k, sm_count;
};

template <typename Tile>
int run(const Call& call, int parts) {
  using T = __nv_bfloat16;
  GemmProblem<T, T> p = {};
  p.a = static_cast<const T*>(call.a);
  p.b = static_cast<const T*>(call.b);
  p.d = static_cast<T*>(call.d);
  p.batch = 1;
  p.m = call.m;
  p.n = call.n;
  p.k = call.k;
  p.a_row = p.b_row = call.k;
  p.a_k = p.b_k = 1;
  p.d_row = call.n;
  p.workspace = call.workspace;
  p.workspace_bytes = call.workspace_bytes;
  p.sm_count = call.sm_count;
  const cudaError_t status = DenseSm90<Tile, Major::kK, Major::kK>(p, Sums(), parts, 2);
  return status != cudaSuccess ? status : cudaDeviceSynchronize();
}

}  // namespace

extern "C" int dense(int which, const void* a, const void* b, void* d, void* workspace,
                     int64_t workspace_bytes, int m, int n, int k, int sm_count) {
  constexpr Schedule kTogether = Schedule::kCooperative, kInTurn = Schedule::kPingPong;
  const Call call{a, b, d, workspace, workspace_bytes, m, n, k, sm_count};
  switch (which) {
    case 0:
      return run<Tile<128, 64, kTogether>>(call, 1);
    case 1:
      return run<Tile<64, 64, kInTurn>>(call, 1);
    case 2:
      return run<Tile<128, 64, kTogether, 2, 1>>(call, 1);
    case 3:
      return run<Tile<128, 16, kTogether, 1, 1, true>>(call, 3);
    case 4:
      return run<Tile<128, 256, kTogether>>(call, 1);
    default:
      return -1;
  }
}
