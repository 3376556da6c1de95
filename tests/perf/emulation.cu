// What emulation.py times beside the kernels of tests/emu: two of the shipped ops, the steps that
// threads of a block and lanes of a warp take together, and the loop that all of it is measured in.
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

// One load and one store a step: volatile, so that no compiler makes vectors or a memcpy of it.
extern "C" cudaError_t copy_loop(const __half* input, __half* output, int64_t n) {
  const auto* from = reinterpret_cast<const volatile unsigned short*>(input);
  auto* to = reinterpret_cast<volatile unsigned short*>(output);
  for (int64_t i = 0; i < n; ++i) to[i] = from[i];
  return cudaSuccess;
}
