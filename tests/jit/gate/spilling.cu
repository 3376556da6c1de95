// A kernel with 96 values a thread and 32 registers.
__global__ void __launch_bounds__(1024, 2) SpillingKernel(float* out, const float* in, int n) {
  float v[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) v[i] = in[i * n + threadIdx.x];
  for (int r = 0; r < n; ++r) {
#pragma unroll
    for (int i = 0; i < 96; ++i) v[i] = __expf(v[i] * v[(i + 41) % 96]);
  }
#pragma unroll
  for (int i = 0; i < 96; ++i) out[i * n + threadIdx.x] = v[i];
}
