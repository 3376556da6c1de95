// C[m, n] = A[m, k] B[n, k]^T: 64x64 tiles and 64 bytes of K a stage, two stages. Four warps of
// 32x32 each. Rows and columns beyond the edges are zero-filled by cp.async, so that any m, n and k
// work; the rows of A and B begin at multiples of 16 bytes.
#include <type_traits>

#include "pipeline.cuh"

namespace {

constexpr int kTile = 64;
constexpr int kStageBytes = 64;
constexpr int kThreads = 128;
// The padding puts the eight rows that ldmatrix reads at a time into different banks.
constexpr int kSharedPitch = kStageBytes + pipeline::kChunk;

template <typename T>
struct Matrix {
  const T* data;
  int rows;
  int cols;
  int64_t pitch;
};

struct Stage {
  alignas(pipeline::kChunk) unsigned char a[kTile][kSharedPitch];
  alignas(pipeline::kChunk) unsigned char b[kTile][kSharedPitch];
};

template <typename T>
__device__ void load_tile(unsigned char (&tile)[kTile][kSharedPitch], const Matrix<T>& from,
                          int first_row, int first_col) {
  constexpr int kElements = pipeline::kChunk / sizeof(T);
  constexpr int kChunksPerRow = kStageBytes / pipeline::kChunk;
  for (int i = threadIdx.x; i < kTile * kChunksPerRow; i += kThreads) {
    const int tile_row = i / kChunksPerRow;
    const int chunk = i % kChunksPerRow;
    const int row = first_row + tile_row;
    const int col = first_col + chunk * kElements;
    const int valid = row < from.rows ? min(max(from.cols - col, 0), kElements) : 0;
    const T* source = valid > 0 ? from.data + row * from.pitch + col : from.data;
    pipeline::copy_async(&tile[tile_row][chunk * pipeline::kChunk], source, valid * sizeof(T));
  }
}

template <typename T>
__device__ void load_operands(uint32_t (&to)[4], const unsigned char* row) {
  pipeline::load_matrices(to, row);
  if constexpr (std::is_same_v<T, float>) {
#pragma unroll
    for (uint32_t& value : to) value = pipeline::to_tf32(value);
  }
}

template <typename T, typename Sum>
__device__ void multiply(Sum (&sums)[2][4][4], const Stage& stage, int warp_row, int warp_col) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int at = 0; at < kStageBytes; at += pipeline::kDepth) {
    uint32_t a[2][4], b[2][4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      load_operands<T>(a[i], &stage.a[warp_row + i * 16 + lane % 16][at + lane / 16 * 16]);
      load_operands<T>(
          b[i], &stage.b[warp_col + i * 16 + lane / 16 * 8 + lane % 8][at + lane / 8 % 2 * 16]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        pipeline::Mma<T>::add(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
      }
    }
  }
}

template <typename T, typename Out>
__global__ void __launch_bounds__(kThreads) GemmKernel(Matrix<T> a, Matrix<T> b, Out* c) {
  constexpr int kColsPerStage = kStageBytes / sizeof(T);
  __shared__ Stage stages[2];
  const int first_row = blockIdx.y * kTile;
  const int first_col = blockIdx.x * kTile;
  const int warp = threadIdx.x / 32;
  const int warp_row = warp % 2 * 32;
  const int warp_col = warp / 2 * 32;

  auto load = [&](int step) {
    Stage& stage = stages[step % 2];
    load_tile(stage.a, a, first_row, step * kColsPerStage);
    load_tile(stage.b, b, first_col, step * kColsPerStage);
  };
  const int steps = (a.cols + kColsPerStage - 1) / kColsPerStage;
  typename pipeline::Mma<T>::Sum sums[2][4][4] = {};
  load(0);
  pipeline::commit();
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) load(step + 1);
    pipeline::commit();
    pipeline::wait<1>();
    __syncthreads();
    multiply<T>(sums, stages[step % 2], warp_row, warp_col);
    __syncthreads();
  }

  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int row = first_row + warp_row + i * 16 + e / 2 * 8 + lane / 4;
        const int col = first_col + warp_col + j * 8 + lane % 4 * 2 + e % 2;
        if (row < a.rows && col < b.rows) {
          c[static_cast<int64_t>(row) * b.rows + col] = static_cast<Out>(sums[i][j][e]);
        }
      }
    }
  }
}

template <typename T, typename Out>
cudaError_t Gemm(const void* a, const void* b, void* c, int m, int n, int k, int a_pitch,
                 int b_pitch) {
  if (m == 0 || n == 0) return cudaSuccess;
  for (const int pitch : {a_pitch, b_pitch}) {
    if (pitch < k || pitch * sizeof(T) % pipeline::kChunk != 0) return cudaErrorInvalidValue;
  }
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  GemmKernel<T><<<grid, kThreads>>>(Matrix<T>{static_cast<const T*>(a), m, k, a_pitch},
                                    Matrix<T>{static_cast<const T*>(b), n, k, b_pitch},
                                    static_cast<Out*>(c));
  return cudaGetLastError();
}

}  // namespace

#define GEMM(name, T, Out)                                                                \
  extern "C" cudaError_t name(const void* a, const void* b, void* c, int m, int n, int k, \
                              int a_pitch, int b_pitch) {                                 \
    return Gemm<T, Out>(a, b, c, m, n, k, a_pitch, b_pitch);                              \
  }

GEMM(gemm_float16, __half, __half)
GEMM(gemm_bfloat16, __nv_bfloat16, __nv_bfloat16)
GEMM(gemm_tf32, float, float)
GEMM(gemm_int8, int8_t, int32_t)
GEMM(gemm_float8_e4m3fn, __nv_fp8_e4m3, float)
