// repack: copies an operand that 16-byte copies cannot address into one that they can.
//
// Bulk and asynchronous copies need a base and strides that are multiples of 16 bytes, and one
// dimension without gaps. Any other operand, such as rows of 1111 elements, is first copied to
// [batch][outer][inner], where inner is the dimension that the kernel takes as contiguous, padded
// with zeros to a multiple of 8 elements.
//
// Traffic: every element is read and written once, so the limit is the memory's bandwidth. A matrix
// that all of a batch share (stride 0) is copied once.
//
// Tiling: a warp takes 256 elements of a row. It reads them in eight loads of 32 adjacent elements,
// each its own lines whatever the alignment, and hands them through shared memory to the lanes that
// write them, 16 bytes each. Lanes that read their own 8 elements would touch four times the lines.
#pragma once

#include <fictl/device/divisor.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/gemm/problem.cuh>

namespace fictl::gemm {

// One operand, [batch][rows][k], seen with the dimension that a kernel takes as contiguous last.
template <typename T>
struct Operand {
  const T* data;
  int batch;
  int outer;
  int inner;
  int64_t batch_stride;
  int64_t outer_stride;
  int64_t inner_stride;

  static constexpr int kChunk = device::kVecBytes / static_cast<int>(sizeof(T));

  // Strides of dimensions of size 1 mean nothing.
  bool addressable() const {
    return device::vec_aligned(data) && (inner <= 1 || inner_stride == 1) &&
           (outer <= 1 || outer_stride % kChunk == 0) && (batch <= 1 || batch_stride % kChunk == 0);
  }

  // How many matrices there are in memory.
  __host__ __device__ int matrices() const { return batch > 1 && batch_stride == 0 ? 1 : batch; }
  int64_t padded_inner() const { return device::ceil_div(inner, kChunk) * kChunk; }

  // Bytes of the copy; 0 where none is needed.
  int64_t packed_bytes() const {
    if (addressable()) return 0;
    return int64_t{matrices()} * outer * padded_inner() * static_cast<int64_t>(sizeof(T));
  }
};

template <Major kMajor, typename T, typename Out>
Operand<T> operand_a(const GemmProblem<T, Out>& problem) {
  const auto& p = problem;
  if (kMajor == Major::kK) return {p.a, p.batch, p.m, p.k, p.a_batch, p.a_row, p.a_k};
  return {p.a, p.batch, p.k, p.m, p.a_batch, p.a_k, p.a_row};
}

template <Major kMajor, typename T, typename Out>
Operand<T> operand_b(const GemmProblem<T, Out>& problem) {
  const auto& p = problem;
  if (kMajor == Major::kK) return {p.b, p.batch, p.n, p.k, p.b_batch, p.b_row, p.b_k};
  return {p.b, p.batch, p.k, p.n, p.b_batch, p.b_k, p.b_row};
}

constexpr int kRepackWarps = 8;
constexpr int kRepackElements = 256;  // of a warp

// Warps are numbered along a row, then over rows, then over the batch.
template <typename T>
__global__ void __launch_bounds__(kRepackWarps * 32)
    RepackKernel(const Operand<T> from, T* to, device::Divisor warps_a_row,
                 device::Divisor outers) {
  constexpr int kChunk = Operand<T>::kChunk;
  static_assert(kRepackElements == 32 * kChunk, "a lane writes one chunk");
  __shared__ __align__(16) T staged[kRepackWarps][kRepackElements];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const auto at = warps_a_row.divide(static_cast<int>(blockIdx.x) * kRepackWarps + warp);
  const auto row = outers.divide(at.quotient);
  const bool exists = row.quotient < from.matrices();
  const int first = at.remainder * kRepackElements;

  device::pdl_wait();
  device::pdl_trigger();
  if (exists) {
    const T* start =
        from.data + row.quotient * from.batch_stride + row.remainder * from.outer_stride;
    T values[kChunk];
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      const int inner = first + i * 32 + lane;
      values[i] = inner < from.inner ? start[inner * from.inner_stride] : T(0.0f);
    }
#pragma unroll
    for (int i = 0; i < kChunk; ++i) staged[warp][i * 32 + lane] = values[i];
  }
  __syncwarp();
  const int chunk = first + lane * kChunk;
  const int64_t pitch = (from.inner + kChunk - 1) / kChunk * kChunk;
  if (!exists || chunk >= pitch) return;
  device::Vec<T, kChunk> vec;
  vec.bits() = *reinterpret_cast<const uint4*>(&staged[warp][lane * kChunk]);
  device::store_l2(to + int64_t{at.quotient} * pitch + chunk, vec);
}

// Copies the operand to `to`, of packed_bytes(), and lets it point there.
template <typename T>
cudaError_t Repack(Operand<T>& operand, T* to, cudaStream_t stream = nullptr, bool pdl = false) {
  const int64_t pitch = operand.padded_inner();
  const int64_t warps_a_row = device::ceil_div(pitch, kRepackElements);
  const int64_t warps = int64_t{operand.matrices()} * operand.outer * warps_a_row;
  if (warps > INT32_MAX - kRepackWarps) return cudaErrorInvalidValue;
  if (warps > 0) {
    device::LaunchConfig config;
    config.grid = dim3(device::ceil_div(warps, kRepackWarps));
    config.block = dim3(kRepackWarps * 32);
    config.stream = stream;
    config.pdl = pdl;
    const cudaError_t status = device::launch<RepackKernel<T>>(
        config, operand, to, device::Divisor(static_cast<int>(warps_a_row)),
        device::Divisor(operand.outer));
    if (status != cudaSuccess) return status;
  }
  operand.data = to;
  if (operand.batch_stride != 0) operand.batch_stride = operand.outer * pitch;
  operand.outer_stride = pitch;
  operand.inner_stride = 1;
  return cudaSuccess;
}

// Bytes at the start of the workspace that repack_operands takes, a multiple of 256.
template <Major kMajorA, Major kMajorB, typename T, typename Out>
int64_t repack_bytes(const GemmProblem<T, Out>& problem) {
  constexpr int64_t kAlign = 256;
  const int64_t a = operand_a<kMajorA>(problem).packed_bytes();
  const int64_t b = operand_b<kMajorB>(problem).packed_bytes();
  return (device::ceil_div(a, kAlign) + device::ceil_div(b, kAlign)) * kAlign;
}

// Makes both operands addressable: copies what is not to the start of the workspace, and leaves the
// problem the rest of it.
template <Major kMajorA, Major kMajorB, typename T, typename Out>
cudaError_t repack_operands(GemmProblem<T, Out>& problem, cudaStream_t stream = nullptr,
                            bool pdl = false) {
  constexpr int64_t kAlign = 256;
  const auto taken = [&](int64_t bytes) {
    T* start = static_cast<T*>(problem.workspace);
    const int64_t whole = device::ceil_div(bytes, kAlign) * kAlign;
    problem.workspace = static_cast<char*>(problem.workspace) + whole;
    problem.workspace_bytes -= whole;
    return start;
  };
  if (problem.workspace_bytes < repack_bytes<kMajorA, kMajorB>(problem)) {
    return cudaErrorInvalidValue;
  }
  Operand<T> a = operand_a<kMajorA>(problem);
  Operand<T> b = operand_b<kMajorB>(problem);
  cudaError_t status = cudaSuccess;
  if (const int64_t bytes = a.packed_bytes(); bytes > 0) {
    status = Repack(a, taken(bytes), stream, pdl);
    if (status != cudaSuccess) return status;
    problem.a = a.data;
    problem.a_batch = a.batch_stride;
    problem.a_row = kMajorA == Major::kK ? a.outer_stride : 1;
    problem.a_k = kMajorA == Major::kK ? 1 : a.outer_stride;
  }
  if (const int64_t bytes = b.packed_bytes(); bytes > 0) {
    status = Repack(b, taken(bytes), stream, pdl);
    if (status != cudaSuccess) return status;
    problem.b = b.data;
    problem.b_batch = b.batch_stride;
    problem.b_row = kMajorB == Major::kK ? b.outer_stride : 1;
    problem.b_k = kMajorB == Major::kK ? 1 : b.outer_stride;
  }
  return cudaSuccess;
}

}  // namespace fictl::gemm
