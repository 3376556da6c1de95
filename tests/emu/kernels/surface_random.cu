// cuRAND's Philox generator, of the toolkit's own header.
#include <curand_kernel.h>

#include "surface.cuh"

// out[thread]: four integers, then four uniform and four normal numbers.
__global__ void philox_kernel(unsigned long long seed, unsigned long long offset,
                              unsigned* integers, float* uniform, float* normal) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, i, offset, &state);
  const uint4 four = curand4(&state);
  integers[4 * i] = four.x;
  integers[4 * i + 1] = four.y;
  integers[4 * i + 2] = four.z;
  integers[4 * i + 3] = four.w;
  reinterpret_cast<float4*>(uniform)[i] = curand_uniform4(&state);
  reinterpret_cast<float4*>(normal)[i] = curand_normal4(&state);
}

extern "C" int philox(unsigned long long seed, unsigned long long offset, unsigned* integers,
                      float* uniform, float* normal, int blocks, int threads) {
  philox_kernel<<<blocks, threads>>>(seed, offset, integers, uniform, normal);
  return finish();
}
