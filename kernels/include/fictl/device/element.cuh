// Traits of element types: one specialisation per entry of fictl/dtype.py. fp8, fp4 and e8m0 are in
// element_fp8.cuh: their CUDA headers cost compile time.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <string.h>

namespace fictl::device {

// A type without a specialisation is not an element type: its use does not compile.
template <typename T>
struct Element;

// The type in DLPack: DLDataTypeCode, bits of a lane, lanes of a T.
template <int Code, int Bits, int Lanes = 1>
struct DLPackType {
  static constexpr int kCode = Code;
  static constexpr int kBits = Bits;
  static constexpr int kLanes = Lanes;
};

// A type that C++ itself converts; a float becomes an integer by truncation.
template <typename T, int Code>
struct PlainElement : DLPackType<Code, 8 * sizeof(T)> {
  static __host__ __device__ float to_float(T x) { return static_cast<float>(x); }
  static __host__ __device__ T from_float(float x) { return static_cast<T>(x); }
};

template <>
struct Element<__half> : DLPackType<2, 16> {
  static constexpr const char* kName = "float16";
  static __host__ __device__ float to_float(__half x) { return __half2float(x); }
  static __host__ __device__ __half from_float(float x) { return __float2half_rn(x); }
};

template <>
struct Element<__nv_bfloat16> : DLPackType<4, 16> {
  static constexpr const char* kName = "bfloat16";
  static __host__ __device__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
  static __host__ __device__ __nv_bfloat16 from_float(float x) { return __float2bfloat16_rn(x); }
};

template <>
struct Element<float> : PlainElement<float, 2> {
  static constexpr const char* kName = "float32";
};

template <>
struct Element<double> : PlainElement<double, 2> {
  static constexpr const char* kName = "float64";
};

template <>
struct Element<int8_t> : PlainElement<int8_t, 0> {
  static constexpr const char* kName = "int8";
};

template <>
struct Element<uint8_t> : PlainElement<uint8_t, 1> {
  static constexpr const char* kName = "uint8";
};

template <>
struct Element<int32_t> : PlainElement<int32_t, 0> {
  static constexpr const char* kName = "int32";
};

template <>
struct Element<int64_t> : PlainElement<int64_t, 0> {
  static constexpr const char* kName = "int64";
};

template <>
struct Element<bool> : PlainElement<bool, 6> {
  static constexpr const char* kName = "bool";
};

// Two elements in one `type`, for types that the GPU converts in pairs.
template <typename T>
struct Pair {
  using type = void;
};

template <>
struct Pair<__half> {
  using type = __half2;
  static __device__ float2 to_float(__half2 x) { return __half22float2(x); }
  static __device__ __half2 from_float(float a, float b) { return __floats2half2_rn(a, b); }
};

template <>
struct Pair<__nv_bfloat16> {
  using type = __nv_bfloat162;
  // The upper half of an fp32 each. Why not __bfloat1622float2: it moves one down before up.
  static __device__ float2 to_float(__nv_bfloat162 x) {
    uint32_t pair;
    memcpy(&pair, &x, sizeof(pair));
    const uint32_t wide[2] = {pair << 16, pair & 0xffff0000};
    float2 values;
    memcpy(&values, wide, sizeof(values));
    return values;
  }
  static __device__ __nv_bfloat162 from_float(float a, float b) {
    return __floats2bfloat162_rn(a, b);
  }
};

}  // namespace fictl::device
