// Accesses that must not happen: outside of tensors and variables, misaligned, null, unwritten.
#include "defects.cuh"

// A vector load guarded by i < n.
KERNEL(vector_over_the_end) {
  const __half* in = reinterpret_cast<const __half*>(x);
  __half* out = reinterpret_cast<__half*>(y);
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (BUG ? i < n : i + 8 <= n) {
    const uint4 values = *reinterpret_cast<const uint4*>(in + i);
    const __half* value = reinterpret_cast<const __half*>(&values);
    for (int j = 0; j < 8 && i + j < n; ++j) out[i + j] = value[j];
  } else {
    for (int j = i; j < n; ++j) out[j] = in[j];
  }
}
DEFECT(vector_over_the_end, 1, 256, 0)

KERNEL(write_one_past_the_end) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (BUG ? i <= n : i < n) y[i] = x[i < n ? i : 0];
}
DEFECT(write_one_past_the_end, 1, 256, 0)

KERNEL(read_before_the_start) {
  const int i = threadIdx.x;
  const float left = BUG || i > 0 ? x[i - 1] : 0.0f;
  y[i] = x[i] - left;
}
DEFECT(read_before_the_start, 1, 128, 0)

// Two views of one allocation with four floats between them.
KERNEL(read_between_two_views) {
  const int i = threadIdx.x;
  if (BUG ? i <= n : i < n) y[i] = x[i] + x[i + n + 4];
}
DEFECT(read_between_two_views, 1, 128, 0)

// Rows of 60 floats that are 64 apart.
KERNEL(read_in_the_gap_of_a_pitch) {
  const int column = threadIdx.x, row = blockIdx.x;
  if (column < (BUG ? 64 : 60)) y[row * 64 + column] = x[row * 64 + column];
}
DEFECT(read_in_the_gap_of_a_pitch, 8, 64, 0)

KERNEL(byte_past_the_end) {
  const bool* in = reinterpret_cast<const bool*>(x);
  const int i = threadIdx.x;
  if (BUG ? i <= n : i < n) y[i] = in[i] ? 1.0f : 0.0f;
}
DEFECT(byte_past_the_end, 1, 128, 0)

// A copy of more bytes than there are, by memcpy.
KERNEL(copy_past_the_end) {
  struct Row {
    float values[16];
  };
  const int i = threadIdx.x * 16;
  if (BUG ? i < n : i + 16 <= n) {
    memcpy(reinterpret_cast<Row*>(y + i), reinterpret_cast<const Row*>(x + i), sizeof(Row));
  }
}
DEFECT(copy_past_the_end, 1, 32, 0)

KERNEL(write_to_an_input) {
  if (BUG && threadIdx.x == 3) const_cast<float*>(x)[3] = x[3] + 1.0f;
  y[threadIdx.x] = x[threadIdx.x];
}
DEFECT(write_to_an_input, 1, 64, 0)

KERNEL(dynamic_shared_past_the_end) {
  extern __shared__ float buffer[];
  buffer[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = buffer[threadIdx.x + (BUG ? 1 : 0)];
}
DEFECT(dynamic_shared_past_the_end, 1, 128, 128 * sizeof(float))

KERNEL(static_shared_past_the_end) {
  __shared__ float tile[128];
  float* shifted = tile + (BUG ? 1 : 0);
  shifted[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}
DEFECT(static_shared_past_the_end, 1, 128, 0)

KERNEL(local_array_past_the_end) {
  float values[4];
  for (int i = 0; i < 4; ++i) values[i] = x[threadIdx.x * 4 + i];
  y[threadIdx.x] = values[(n & 3) + (BUG ? 4 : 0)];
}
DEFECT(local_array_past_the_end, 1, 32, 0)

KERNEL(misaligned_vector) {
  const float4 values = *reinterpret_cast<const float4*>(x + threadIdx.x * 4 + (BUG ? 1 : 0));
  y[threadIdx.x] = values.x + values.y + values.z * values.w;
}
DEFECT(misaligned_vector, 1, 64, 0)

KERNEL(misaligned_copy) {
  __shared__ __align__(16) float tile[64];
  if (threadIdx.x < 16)
    ptx::copy_async(&tile[threadIdx.x * 4], x + threadIdx.x * 4 + (BUG ? 1 : 0));
  ptx::commit();
  ptx::wait<0>();
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}
DEFECT(misaligned_copy, 1, 64, 0)

KERNEL(misaligned_ldmatrix) {
  __shared__ __align__(16) __half tile[8 * 16];
  for (int i = threadIdx.x; i < 8 * 16; i += 32) tile[i] = __float2half(x[i]);
  __syncwarp();
  const unsigned row = ptx::shared_address(&tile[threadIdx.x % 8 * 16 + (BUG ? 2 : 0)]);
  unsigned values;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(values) : "r"(row));
  y[threadIdx.x] = static_cast<float>(values & 1);
}
DEFECT(misaligned_ldmatrix, 1, 32, 0)

// Partial sums of more warps than there are.
KERNEL(unwritten_static_shared) {
  __shared__ float partial[32];
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x[threadIdx.x];
  __syncthreads();
  const bool has_one = threadIdx.x < blockDim.x / 32;
  if (threadIdx.x < 32) y[threadIdx.x] = BUG || has_one ? partial[threadIdx.x] : 0.0f;
}
DEFECT(unwritten_static_shared, 1, 128, 0)

KERNEL(unwritten_dynamic_shared) {
  extern __shared__ float buffer[];
  if (BUG ? threadIdx.x < n : threadIdx.x < 128) buffer[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = buffer[127 - threadIdx.x];
}
DEFECT(unwritten_dynamic_shared, 1, 128, 128 * sizeof(float))

KERNEL(null_read) {
  const float* bias = BUG && n > 0 ? nullptr : x;
  y[threadIdx.x] = x[threadIdx.x] + bias[threadIdx.x + 5];
}
DEFECT(null_read, 1, 32, 0)

KERNEL(null_write) {
  float* lse = BUG && n > 0 ? nullptr : y + 32;
  y[threadIdx.x] = x[threadIdx.x];
  lse[threadIdx.x] = 0.0f;
}
DEFECT(null_write, 1, 32, 0)

KERNEL(stack_overflow) {
  constexpr int kLength = BUG ? 100000 : 16;
  volatile float values[kLength];
  for (int i = 0; i < kLength; ++i) values[i] = x[0];
  y[threadIdx.x] = values[7];
}
DEFECT(stack_overflow, 1, 32, 0)

// Memory of cudaMalloc() that is too small, or was given back.
KERNEL(memory_of_the_api) { y[threadIdx.x] = x[threadIdx.x]; }

extern "C" int memory_of_the_api(int bug, const float* x, float* y, int* flags, int n) {
  float* scratch;
  cudaMalloc(&scratch, (bug ? 31 : 32) * sizeof(float));
  memory_of_the_api_kernel<true><<<1, 32>>>(x, scratch, flags, n);
  const cudaError_t launched = cudaGetLastError();
  cudaFree(scratch);
  return launched;
}

extern "C" int memory_that_was_freed(int bug, const float* x, float* y, int* flags, int n) {
  float* scratch;
  cudaMalloc(&scratch, 32 * sizeof(float));
  if (bug) cudaFree(scratch);
  memory_of_the_api_kernel<true><<<1, 32>>>(x, scratch, flags, n);
  const cudaError_t launched = cudaGetLastError();
  if (!bug) cudaFree(scratch);
  return launched;
}
