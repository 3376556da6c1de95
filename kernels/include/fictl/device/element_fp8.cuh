// Element types of eight bits and fewer; apart from element.cuh because their headers are slow.
#pragma once

#include <cuda_fp4.h>
#include <cuda_fp8.h>

#include <fictl/device/element.cuh>

namespace fictl::device {

template <>
struct Element<__nv_fp8_e4m3> : DLPackType<10, 8> {
  static constexpr const char* kName = "float8_e4m3fn";
  static __host__ __device__ float to_float(__nv_fp8_e4m3 x) { return static_cast<float>(x); }
  static __host__ __device__ __nv_fp8_e4m3 from_float(float x) { return __nv_fp8_e4m3(x); }
};

template <>
struct Element<__nv_fp8_e5m2> : DLPackType<12, 8> {
  static constexpr const char* kName = "float8_e5m2";
  static __host__ __device__ float to_float(__nv_fp8_e5m2 x) { return static_cast<float>(x); }
  static __host__ __device__ __nv_fp8_e5m2 from_float(float x) { return __nv_fp8_e5m2(x); }
};

// A power of two, for block scales; from_float rounds towards the larger one.
template <>
struct Element<__nv_fp8_e8m0> : DLPackType<14, 8> {
  static constexpr const char* kName = "float8_e8m0fnu";
  static __host__ __device__ float to_float(__nv_fp8_e8m0 x) { return static_cast<float>(x); }
  static __host__ __device__ __nv_fp8_e8m0 from_float(float x) { return __nv_fp8_e8m0(x); }
};

// Two in one byte, the first in the low half.
template <>
struct Element<__nv_fp4x2_e2m1> : DLPackType<17, 4, 2> {
  static constexpr const char* kName = "float4_e2m1fn_x2";
  static __host__ __device__ float2 to_float(__nv_fp4x2_e2m1 x) { return static_cast<float2>(x); }
  static __host__ __device__ __nv_fp4x2_e2m1 from_float(float2 x) { return __nv_fp4x2_e2m1(x); }
};

template <>
struct Pair<__nv_fp8_e4m3> {
  using type = __nv_fp8x2_e4m3;
  static __device__ float2 to_float(__nv_fp8x2_e4m3 x) { return static_cast<float2>(x); }
  static __device__ __nv_fp8x2_e4m3 from_float(float a, float b) {
    return __nv_fp8x2_e4m3(make_float2(a, b));
  }
};

template <>
struct Pair<__nv_fp8_e5m2> {
  using type = __nv_fp8x2_e5m2;
  static __device__ float2 to_float(__nv_fp8x2_e5m2 x) { return static_cast<float2>(x); }
  static __device__ __nv_fp8x2_e5m2 from_float(float a, float b) {
    return __nv_fp8x2_e5m2(make_float2(a, b));
  }
};

}  // namespace fictl::device
