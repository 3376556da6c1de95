// SURFACE applies many expressions of x, y and z to every element of three arrays. The test gets
// the text of each expression and evaluates it, too, with functions of its own under the same
// names.
#pragma once

#include <cuda_runtime.h>

#include <cstring>

// The error of what was launched, which does not stay.
inline int finish() {
  cudaDeviceSynchronize();
  return cudaGetLastError();
}

template <class T>
__device__ void store_bits(unsigned long long* out, T value) {
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof value);
  *out = bits;
}

#define SURFACE_STORE(...)       \
  store_bits(next, __VA_ARGS__); \
  next += n;
#define SURFACE_TEXT(...) #__VA_ARGS__ "\n"

// out[expression][element].
#define SURFACE(name, T, EXPRESSIONS)                                                        \
  __global__ void name##_kernel(const T* a, const T* b, const T* c, unsigned long long* out, \
                                int n) {                                                     \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
    if (i >= n) return;                                                                      \
    [[maybe_unused]] const T x = a[i], y = b[i], z = c[i];                                   \
    unsigned long long* next = out + i;                                                      \
    EXPRESSIONS(SURFACE_STORE)                                                               \
  }                                                                                          \
  extern "C" const char* name##_expressions() { return EXPRESSIONS(SURFACE_TEXT); }          \
  extern "C" int name(const T* a, const T* b, const T* c, unsigned long long* out, int n) {  \
    name##_kernel<<<(n + 127) / 128, 128>>>(a, b, c, out, n);                                \
    return finish();                                                                         \
  }
