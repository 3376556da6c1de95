// Shared memory that a kernel divides by hand, and says so.
#include <fictl/device/shared_parts.cuh>

#include "defects.cuh"

using fictl::device::shared_part;
using fictl::device::SharedParts;

KERNEL(one_part_into_the_next) {
  extern __shared__ __align__(16) char shared[];
  SharedParts parts(shared);
  float* values = parts.take<float>("values", 64);
  int* counts = parts.take<int>("counts", 64);
  counts[threadIdx.x] = 0;
  __syncthreads();
  values[threadIdx.x + (BUG ? 1 : 0)] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = values[threadIdx.x] + counts[threadIdx.x];
}
DEFECT(one_part_into_the_next, 1, 64, 512)

KERNEL(one_part_into_the_one_before) {
  extern __shared__ __align__(16) char shared[];
  SharedParts parts(shared);
  float* values = parts.take<float>("values", 64);
  float* sums = parts.take<float>("sums", 64);
  values[threadIdx.x] = sums[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = sums[static_cast<int>(threadIdx.x) - (BUG ? 1 : 0)];
}
DEFECT(one_part_into_the_one_before, 1, 64, 512)

KERNEL(copy_beyond_its_part) {
  extern __shared__ __align__(16) char shared[];
  char* tile = shared + shared_part(shared, "tile", 256, 256);
  char* queries = shared + shared_part(shared, "queries", 0, 256);
  if (threadIdx.x < 16)
    ptx::copy_async(queries + threadIdx.x * 16 + (BUG ? 16 : 0), x + threadIdx.x * 4);
  ptx::commit();
  ptx::wait<0>();
  reinterpret_cast<float*>(tile)[threadIdx.x] = 1.0f;
  __syncthreads();
  y[threadIdx.x] = reinterpret_cast<float*>(tile)[threadIdx.x];
}
DEFECT(copy_beyond_its_part, 1, 64, 512)

KERNEL(address_beyond_its_part) {
  extern __shared__ __align__(16) char shared[];
  SharedParts parts(shared);
  float* values = parts.take<float>("values", 32);
  parts.take<float>("others", 32);
  const unsigned at = ptx::shared_address(values) + (threadIdx.x + (BUG ? 1 : 0)) * 4;
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(x[threadIdx.x]) : "memory");
  __syncwarp();
  y[threadIdx.x] = values[threadIdx.x];
}
DEFECT(address_beyond_its_part, 1, 32, 256)

KERNEL(parts_larger_than_the_whole) {
  extern __shared__ __align__(16) char shared[];
  SharedParts parts(shared);
  float* values = parts.take<float>("values", 64);
  float* sums = parts.take<float>("sums", BUG ? 65 : 64);
  values[threadIdx.x] = sums[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = values[threadIdx.x] + sums[threadIdx.x];
}
DEFECT(parts_larger_than_the_whole, 1, 64, 512)

// One after another in the same memory: still the same memory.
KERNEL(part_used_again_too_early) {
  extern __shared__ __align__(16) char shared[];
  float* tile = reinterpret_cast<float*>(shared + shared_part(shared, "tile", 0, 256));
  int* counts = reinterpret_cast<int*>(shared + shared_part(shared, "counts", 0, 256));
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const float value = tile[63 - threadIdx.x];
  if (!BUG) __syncthreads();
  counts[threadIdx.x] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = value + counts[63 - threadIdx.x];
}
DEFECT(part_used_again_too_early, 1, 64, 256)

KERNEL(part_that_nobody_wrote) {
  extern __shared__ __align__(16) char shared[];
  SharedParts parts(shared);
  float* values = parts.take<float>("values", 64);
  float* sums = parts.take<float>("sums", 64);
  values[threadIdx.x] = x[threadIdx.x];
  if (!BUG) sums[threadIdx.x] = 0.0f;
  y[threadIdx.x] = values[threadIdx.x] + sums[threadIdx.x];
}
DEFECT(part_that_nobody_wrote, 1, 64, 512)
