// Tensor map: what the copy engine knows of a tensor in global memory, made on the host.
//
//   TensorMapSpec spec = TensorMapSpec::matrix<T>(data, rows, columns, row_stride);
//   spec.box[0] = 64;  spec.box[1] = 128;  spec.swizzle = Swizzle::k128;
//   cudaError_t status = make_tensor_map(spec, &map);     // tensor_map_problem(spec) says why not
//   kernel<<<...>>>(map);                                 // const __grid_constant__ CUtensorMap
//
// Dimensions are numbered from the innermost, whose elements are contiguous. What a box covers
// beyond the tensor reads as zero, and is not written; but a store writes whole 16 bytes, so rows
// that do not end at a multiple of them are continued by up to 15 bytes of what lies in the tile.
// Nothing edits a map on the device.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>

#include <fictl/device/hopper/swizzle.cuh>

namespace fictl::device {

template <typename T>
struct TensorMapType;
template <>
struct TensorMapType<uint8_t> {
  static constexpr CUtensorMapDataType kValue = CU_TENSOR_MAP_DATA_TYPE_UINT8;
};
template <>
struct TensorMapType<__half> {
  static constexpr CUtensorMapDataType kValue = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
};
template <>
struct TensorMapType<__nv_bfloat16> {
  static constexpr CUtensorMapDataType kValue = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
};
template <>
struct TensorMapType<float> {
  static constexpr CUtensorMapDataType kValue = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
};

struct TensorMapSpec {
  static constexpr int kMostDimensions = 5;

  const void* data = nullptr;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  uint32_t element_bytes = 1;
  uint32_t dimensions = 1;
  uint64_t size[kMostDimensions] = {};
  uint64_t stride_bytes[kMostDimensions] = {};  // the first is element_bytes
  uint32_t box[kMostDimensions] = {1, 1, 1, 1, 1};
  Swizzle swizzle = Swizzle::kNone;

  // fp8 and other types of one byte are uint8_t here.
  template <typename T>
  static TensorMapSpec of(const T* data) {
    TensorMapSpec spec;
    spec.data = data;
    spec.type = TensorMapType<T>::kValue;
    spec.element_bytes = sizeof(T);
    spec.dimensions = 0;
    return spec;
  }
  template <typename T>
  static TensorMapSpec matrix(const T* data, int64_t rows, int64_t columns, int64_t row_stride) {
    return of(data).with(columns, 1).with(rows, row_stride);
  }

  // One more dimension around those there are; the stride is in elements.
  TensorMapSpec with(int64_t extent, int64_t stride, uint32_t box_extent = 1) const {
    TensorMapSpec spec = *this;
    spec.size[dimensions] = static_cast<uint64_t>(extent);
    spec.stride_bytes[dimensions] = static_cast<uint64_t>(stride) * element_bytes;
    spec.box[dimensions] = box_extent;
    ++spec.dimensions;
    return spec;
  }
};

// A stride that a map accepts: that of a dimension of one element may be anything.
inline int64_t usable_stride(int64_t extent, int64_t stride) { return extent > 1 ? stride : 64; }

// Why no map can be made of this; an empty text if one can. The driver says "invalid value" alone.
struct TensorMapProblem {
  char text[160] = "";
  explicit operator bool() const { return text[0] != 0; }
};

inline TensorMapProblem tensor_map_problem(const TensorMapSpec& spec) {
  TensorMapProblem problem;
  const auto refuse = [&](const char* what, long long value, int dimension) {
    if (!problem) snprintf(problem.text, sizeof(problem.text), what, value, dimension);
  };
  if (spec.dimensions < 1 || spec.dimensions > TensorMapSpec::kMostDimensions)
    refuse("%lld dimensions: a tensor map has 1 to 5", spec.dimensions, 0);
  if (reinterpret_cast<uintptr_t>(spec.data) % 16 != 0)
    refuse("the address 0x%llx is not a multiple of 16 bytes",
           static_cast<long long>(reinterpret_cast<uintptr_t>(spec.data)), 0);
  const uint32_t inner = spec.box[0] * spec.element_bytes;
  if (inner % 16 != 0) refuse("rows of %lld bytes in the box: not a multiple of 16", inner, 0);
  if (spec.swizzle != Swizzle::kNone && inner > swizzle_bytes(spec.swizzle))
    refuse("rows of %lld bytes in the box: wider than the swizzle", inner, 0);
  for (uint32_t i = 0; !problem && i < spec.dimensions; ++i) {
    const int at = static_cast<int>(i);
    if (spec.size[i] < 1 || spec.size[i] > uint64_t{1} << 32)
      refuse("%lld elements in dimension %d: 1 to 2^32 are possible",
             static_cast<long long>(spec.size[i]), at);
    if (spec.box[i] < 1 || spec.box[i] > 256)
      refuse("a box of %lld elements in dimension %d: 1 to 256 are possible", spec.box[i], at);
    if (i > 0 && (spec.stride_bytes[i] % 16 != 0 || spec.stride_bytes[i] >= uint64_t{1} << 40))
      refuse("a stride of %lld bytes in dimension %d: not a multiple of 16 below 2^40",
             static_cast<long long>(spec.stride_bytes[i]), at);
  }
  return problem;
}

// The driver's function, found through the runtime, so that nothing links libcuda.
using EncodeTensorMap = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                     const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                     const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                     CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

inline EncodeTensorMap tensor_map_encoder() {
  static const EncodeTensorMap encoder = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    constexpr unsigned kSinceCuda12 = 12000;
    const cudaError_t status = cudaGetDriverEntryPointByVersion(
        "cuTensorMapEncodeTiled", &function, kSinceCuda12, cudaEnableDefault, &found);
    const bool is_there = status == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return is_there ? reinterpret_cast<EncodeTensorMap>(function) : nullptr;
  }();
  return encoder;
}

inline CUtensorMapSwizzle driver_swizzle(Swizzle swizzle) {
  return swizzle == Swizzle::k128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : swizzle == Swizzle::k64 ? CU_TENSOR_MAP_SWIZZLE_64B
         : swizzle == Swizzle::k32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                   : CU_TENSOR_MAP_SWIZZLE_NONE;
}

// Takes about a microsecond of the host.
inline cudaError_t make_tensor_map(const TensorMapSpec& spec, CUtensorMap* map) {
  if (tensor_map_problem(spec)) return cudaErrorInvalidValue;
  const EncodeTensorMap encode = tensor_map_encoder();
  if (encode == nullptr) return cudaErrorNotSupported;  // a driver before CUDA 12
  const cuuint32_t element_strides[TensorMapSpec::kMostDimensions] = {1, 1, 1, 1, 1};
  const CUresult result =
      encode(map, spec.type, spec.dimensions, const_cast<void*>(spec.data), spec.size,
             spec.stride_bytes + 1, spec.box, element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
             driver_swizzle(spec.swizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace fictl::device
