// A function of the CUDA runtime that the emulated device does not have.
#include <cuda_runtime.h>

extern "C" int run() {
  cudaGraph_t graph;
  return cudaGraphCreate(&graph, 0);
}
