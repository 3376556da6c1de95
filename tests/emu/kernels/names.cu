// Launches of every form, of kernels that write to a null pointer; and blocks that wait for others.
#include <cuda_runtime.h>

template <typename T>
__device__ __noinline__ void write(T* to) {
  *to = T(1);
}

template <typename T>
__global__ void Written(T* to) {
  write(to);
}

namespace names {

__global__ void Plain(int* to) { to[threadIdx.x] = 1; }

}  // namespace names

__device__ volatile int flag;

__global__ void WaitForTheLast() {
  if (blockIdx.x == gridDim.x - 1) {
    flag = 1;
  } else {
    while (flag == 0) continue;
  }
}

extern "C" int run(int which) {
  if (which == 0) Written<<<1, 32>>>(static_cast<float*>(nullptr));
  if (which == 1) Written<double><<<1, 32>>>(static_cast<double*>(nullptr));
  if (which == 2) {
    void (*const kernel)(float*) = Written<float>;
    kernel<<<1, 32>>>(nullptr);
  }
  if (which == 3) names::Plain<<<1, 32>>>(nullptr);
  if (which == 4) {
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    int* const nothing = nullptr;
    cudaLaunchKernelEx(&config, Written<int>, nothing);
  }
  return cudaGetLastError();
}

extern "C" int wait_for_the_last_block() {
  flag = 0;
  WaitForTheLast<<<8, 1>>>();
  return cudaGetLastError();
}
