// What emulation.py times beside the kernels of tests/emu: two of the shipped ops, and the steps
// that threads of a block and lanes of a warp take together.
#include <fictl/elementwise/scale.cuh>
#include <fictl/norm/rmsnorm.cuh>

namespace {

__global__ void Barriers(int steps) {
  for (int i = 0; i < steps; ++i) __syncthreads();
}

__global__ void Shuffles(int steps, int* out) {
  int value = threadIdx.x;
  for (int i = 0; i < steps; ++i) value = __shfl_xor_sync(0xffffffff, value, i % 31 + 1);
  out[threadIdx.x] = value;
}

}  // namespace

extern "C" cudaError_t scale_float16(const __half* input, __half* output, int64_t n) {
  return fictl::elementwise::Scale(output, input, 2.0f, {1, n, n, n});
}

extern "C" cudaError_t rmsnorm_float16(const __half* input, const __half* weight, __half* output,
                                       int64_t rows, int64_t hidden) {
  const auto count = static_cast<unsigned>(rows);
  const fictl::norm::RMSNormShape shape = {count, hidden, count, {hidden, 0}, {hidden, 0}};
  return fictl::norm::RMSNorm<__half, __half>({input, weight, output}, shape);
}

extern "C" cudaError_t barriers(int threads, int steps) {
  Barriers<<<1, threads>>>(steps);
  return cudaGetLastError();
}

// out [threads]
extern "C" cudaError_t shuffles(int threads, int steps, int* out) {
  Shuffles<<<1, threads>>>(steps, out);
  return cudaGetLastError();
}
