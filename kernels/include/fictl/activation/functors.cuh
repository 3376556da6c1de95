// Activation functions as types, which kernels take as a template argument.
#pragma once

#include <fictl/activation/gelu.cuh>
#include <fictl/device/functions.cuh>

namespace fictl::activation {

struct Identity {
  __device__ static float of(float x) { return x; }
};

struct Relu {
  __device__ static float of(float x) { return device::relu(x); }
};

struct Silu {
  __device__ static float of(float x) {
    return device::fast_divide(x, 1.0f + device::fast_exp2(-kLog2e * x));
  }
};

struct Gelu {
  __device__ static float of(float x) { return gelu(x); }
};

struct GeluTanh {
  __device__ static float of(float x) { return gelu_tanh(x); }
};

}  // namespace fictl::activation
