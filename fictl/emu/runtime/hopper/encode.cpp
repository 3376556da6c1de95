// cuTensorMapEncodeTiled, and the way to it: cudaGetDriverEntryPoint. Nothing else of the driver's
// API is there.
#include <cuda.h>
#include <driver_types.h>

#include <cstring>

#include "report.h"
#include "tensor_map.h"

namespace fictl_emu {

namespace {

constexpr uint64_t kMostElements = uint64_t{1} << 32;
constexpr uint64_t kLongestStride = uint64_t{1} << 40;
constexpr uint32_t kLargestBox = 256;
constexpr uint32_t kLongestStep = 8;

// Arguments of the call.
struct Asked {
  const void* map;
  CUtensorMapDataType type;
  uint32_t rank;
  const void* base;
  const cuuint64_t* sizes;
  const cuuint64_t* strides;
  const cuuint32_t* box;
  const cuuint32_t* steps;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapFloatOOBfill fill;
};

// 0: a type that is not emulated.
uint32_t bytes_of(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
      return 4;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return 8;
    default:
      return 0;
  }
}

bool is_floating(CUtensorMapDataType type) {
  return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

std::string number(uint64_t value) { return std::to_string(value); }

std::string at(const char* name, uint32_t i) { return std::string(name) + "[" + number(i) + "]"; }

bool misaligned(const void* address, uintptr_t to) {
  return reinterpret_cast<uintptr_t>(address) % to != 0;
}

// Names what the emulated device lacks; empty if it lacks nothing.
std::string missing(const Asked& asked) {
  if (bytes_of(asked.type) == 0) return "tensor maps of data type " + number(asked.type);
  if (asked.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return "tensor maps with interleaving";
  if (asked.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return "tensor maps of a swizzle in larger atoms";
  return "";
}

std::string problem_of_sizes(const Asked& asked) {
  for (uint32_t i = 0; i < asked.rank; ++i) {
    if (asked.sizes[i] == 0 || asked.sizes[i] > kMostElements) {
      return at("globalDim", i) + " is " + number(asked.sizes[i]) + ", not 1 to 2^32";
    }
  }
  for (uint32_t i = 0; i + 1 < asked.rank; ++i) {
    if (asked.strides[i] % 16 != 0) {
      return at("globalStrides", i) + " is " + number(asked.strides[i]) +
             " bytes, not a multiple of 16";
    }
    if (asked.strides[i] >= kLongestStride) {
      return at("globalStrides", i) + " is " + number(asked.strides[i]) + " bytes, not below 2^40";
    }
  }
  return "";
}

std::string problem_of_box(const Asked& asked) {
  for (uint32_t i = 0; i < asked.rank; ++i) {
    if (asked.box[i] == 0 || asked.box[i] > kLargestBox) {
      return at("boxDim", i) + " is " + number(asked.box[i]) + ", not 1 to 256";
    }
    if (asked.steps[i] == 0 || asked.steps[i] > kLongestStep) {
      return at("elementStrides", i) + " is " + number(asked.steps[i]) + ", not 1 to 8";
    }
  }
  const uint64_t row = uint64_t{asked.box[0]} * bytes_of(asked.type);
  if (row % 16 != 0) {
    return "boxDim[0] makes rows of " + number(row) + " bytes, not a multiple of 16";
  }
  const uint64_t width = uint64_t{16} << asked.swizzle;
  if (asked.swizzle != CU_TENSOR_MAP_SWIZZLE_NONE && row > width) {
    return "boxDim[0] makes rows of " + number(row) + " bytes, more than the swizzle's " +
           number(width);
  }
  return "";
}

// The first rule that the arguments break; empty if they keep all.
std::string problem(const Asked& asked) {
  if (asked.map == nullptr || misaligned(asked.map, 64)) {
    return "the map's address is not a multiple of 64";
  }
  if (asked.rank == 0 || asked.rank > kMostDimensions) {
    return "tensorRank is " + number(asked.rank) + ", not 1 to 5";
  }
  if (asked.base == nullptr) return "globalAddress is null";
  if (misaligned(asked.base, 16)) return "globalAddress is not a multiple of 16";
  if (asked.sizes == nullptr || asked.box == nullptr || asked.steps == nullptr ||
      (asked.rank > 1 && asked.strides == nullptr)) {
    return "an array of sizes, strides or the box is null";
  }
  const std::string sizes = problem_of_sizes(asked);
  if (!sizes.empty()) return sizes;
  const std::string box = problem_of_box(asked);
  if (!box.empty()) return box;
  if (asked.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && !is_floating(asked.type)) {
    return "oobFill asks for NaN in a tensor of integers";
  }
  return "";
}

TensorMap encoded(const Asked& asked) {
  TensorMap map{};
  map.magic = TensorMap::kMagic;
  map.base = reinterpret_cast<uintptr_t>(asked.base);
  map.type = static_cast<uint8_t>(asked.type);
  map.rank = static_cast<uint8_t>(asked.rank);
  map.swizzle = static_cast<Swizzle>(asked.swizzle);
  map.fills_with_nan = asked.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  for (uint32_t i = 0; i < asked.rank; ++i) {
    // Why 1: without interleaving the hardware ignores the innermost step.
    map.steps[i] = i == 0 ? 1 : static_cast<uint8_t>(asked.steps[i]);
    map.box[i] = static_cast<uint16_t>((asked.box[i] + map.steps[i] - 1) / map.steps[i]);
    map.last[i] = static_cast<uint32_t>(asked.sizes[i] - 1);
    map.strides[i] = i == 0 ? bytes_of(asked.type) : asked.strides[i - 1];
  }
  return map;
}

CUresult refuse(const char* kind, const std::string& what, CUresult result, const void* caller) {
  Report report(kind, nullptr);
  report.text("what", what);
  report.place(caller);
  report.file();
  return result;
}

CUresult encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* base,
                      const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                      const cuuint32_t* steps, CUtensorMapInterleave interleave,
                      CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                      CUtensorMapFloatOOBfill fill) {
  const void* caller = __builtin_return_address(0);
  const Asked asked = {map, type,  rank,       base,    sizes, strides,
                       box, steps, interleave, swizzle, fill};
  const std::string lacking = missing(asked);
  if (!lacking.empty()) return refuse("missing", lacking, CUDA_ERROR_NOT_SUPPORTED, caller);
  const std::string broken = problem(asked);
  if (!broken.empty()) {
    return refuse("bad-tensor-map", "cuTensorMapEncodeTiled: " + broken, CUDA_ERROR_INVALID_VALUE,
                  caller);
  }
  const TensorMap content = encoded(asked);
  memset(static_cast<void*>(map), 0, sizeof *map);
  memcpy(static_cast<void*>(map), &content, sizeof content);
  return CUDA_SUCCESS;
}

cudaError_t entry_point(const char* symbol, void** function,
                        cudaDriverEntryPointQueryResult* status, const void* caller) {
  const bool known = strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
  *function = known ? reinterpret_cast<void*>(encode_tiled) : nullptr;
  if (status != nullptr) {
    *status = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  }
  if (!known) refuse("missing", std::string(symbol) + " of the driver", CUDA_SUCCESS, caller);
  return cudaSuccess;
}

}  // namespace

}  // namespace fictl_emu

// Declared in the headers of some toolkits only, and not in the same ones.
#pragma GCC visibility push(default)
extern "C" {

cudaError_t fictl_emu_cudaGetDriverEntryPoint(const char* symbol, void** function,
                                              unsigned long long,
                                              cudaDriverEntryPointQueryResult* status) {
  return fictl_emu::entry_point(symbol, function, status, __builtin_return_address(0));
}

cudaError_t fictl_emu_cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                       unsigned int, unsigned long long,
                                                       cudaDriverEntryPointQueryResult* status) {
  return fictl_emu::entry_point(symbol, function, status, __builtin_return_address(0));
}
}
#pragma GCC visibility pop
