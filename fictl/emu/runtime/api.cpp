// The CUDA runtime API of the emulated device: one device with the host's memory, on which
// everything is done when the call returns. The functions get their fictl_emu_ names from
// api_names.h.
#include <fictl_emu/api_names.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <set>

#include <fictl_emu/abi.h>

#include "api.h"
#include "config.h"
#include "system.h"
#include "tensors.h"

namespace fictl_emu {

namespace {

constexpr int kThreadsPerSm = 2048;
constexpr int kRegistersPerSm = 65536;

__thread cudaError_t last_error FICTL_EMU_TLS = cudaSuccess;

Mutex limits_mutex;  // of what follows
std::map<const void*, size_t> shared_limits;
size_t largest_limit = kSharedPerBlock;
std::set<const void*> large_clusters;

double stamp_ms() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

cudaError_t allocate(void** memory, size_t bytes) {
  *memory = nullptr;
  if (posix_memalign(memory, 256, std::max<size_t>(bytes, 1)) != 0) {
    return set_last_error(cudaErrorMemoryAllocation);
  }
  memset(*memory, 0xFF, bytes);
  check::allocated(*memory, bytes);
  return cudaSuccess;
}

cudaError_t release(void* memory) {
  check::freed(memory);
  free(memory);
  return cudaSuccess;
}

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize", "cluster misconfiguration"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure",
     "the emulated device stopped the kernel; its report says why"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "not supported by the emulated device"},
};

const ErrorText& describe(cudaError_t error) {
  static constexpr ErrorText kUnknown = {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"};
  for (const ErrorText& known : kErrors) {
    if (known.error == error) return known;
  }
  return kUnknown;
}

int attribute(cudaDeviceAttr which) {
  switch (which) {
    case cudaDevAttrMultiProcessorCount:
      return config.sm_count;
    case cudaDevAttrComputeCapabilityMajor:
      return config.major;
    case cudaDevAttrComputeCapabilityMinor:
      return config.minor;
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return 1024;
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrMaxGridDimX:
      return 0x7FFFFFFF;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return 65535;
    case cudaDevAttrWarpSize:
      return 32;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return kThreadsPerSm;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return 32;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return kRegistersPerSm;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return kSharedPerBlock;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return kSharedOptIn;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return kSharedPerSm;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return 1024;
    case cudaDevAttrClusterLaunch:
      return config.major >= 9;
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrPageableMemoryAccess:
      return 1;
    case cudaDevAttrL2CacheSize:
      return 50 << 20;
    case cudaDevAttrMaxPitch:
      return 0x7FFFFFFF;
    default:
      return 0;
  }
}

}  // namespace

cudaError_t set_last_error(cudaError_t error) {
  last_error = error;
  return error;
}

size_t dynamic_shared_limit(const void* function) {
  const Lock lock(limits_mutex);
  if (function == nullptr) return largest_limit;
  const auto found = shared_limits.find(function);
  return found == shared_limits.end() ? kSharedPerBlock : found->second;
}

bool has_opted_in(const void* function) {
  const Lock lock(limits_mutex);
  return function == nullptr ? !shared_limits.empty() : shared_limits.count(function) != 0;
}

bool allows_large_clusters(const void* function) {
  const Lock lock(limits_mutex);
  return function == nullptr ? !large_clusters.empty() : large_clusters.count(function) != 0;
}

}  // namespace fictl_emu

using namespace fictl_emu;

#pragma GCC visibility push(default)
extern "C" {

// ---- errors ----

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() { return last_error; }
const char* cudaGetErrorName(cudaError_t error) { return describe(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return describe(error).text; }

// ---- the device ----

cudaError_t cudaInitDevice(int, unsigned, unsigned) { return cudaSuccess; }
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaGetDeviceFlags(unsigned* flags) { return *flags = 0, cudaSuccess; }
cudaError_t cudaDeviceReset() { return cudaSuccess; }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit) { return *value = 64 << 10, cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return *least = *greatest = 0, cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  return *value = attribute(which), cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = cudaDeviceProp{};
  strcpy(properties->name, "fictl emulated device");
  properties->major = config.major;
  properties->minor = config.minor;
  properties->multiProcessorCount = config.sm_count;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = kThreadsPerSm;
  properties->maxBlocksPerMultiProcessor = 32;
  properties->sharedMemPerBlock = kSharedPerBlock;
  properties->sharedMemPerBlockOptin = kSharedOptIn;
  properties->sharedMemPerMultiprocessor = kSharedPerSm;
  properties->regsPerBlock = properties->regsPerMultiprocessor = kRegistersPerSm;
  properties->l2CacheSize = 50 << 20;
  properties->totalGlobalMem = size_t{4} << 30;
  properties->unifiedAddressing = 1;
  properties->cooperativeLaunch = 1;
  const int threads[3] = {1024, 1024, 64};
  const int grid[3] = {0x7FFFFFFF, 65535, 65535};
  memcpy(properties->maxThreadsDim, threads, sizeof threads);
  memcpy(properties->maxGridSize, grid, sizeof grid);
  return cudaSuccess;
}

// ---- kernels ----

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute which, int value) {
  if (which == cudaFuncAttributeNonPortableClusterSizeAllowed) {
    const Lock lock(limits_mutex);
    if (value != 0) large_clusters.insert(function);
    return cudaSuccess;
  }
  if (which != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || value > kSharedOptIn) return set_last_error(cudaErrorInvalidValue);
  const Lock lock(limits_mutex);
  shared_limits[function] = std::max(value, kSharedPerBlock);
  largest_limit = std::max(largest_limit, shared_limits[function]);
  return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  *attributes = cudaFuncAttributes{};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->binaryVersion = attributes->ptxVersion = 10 * config.major + config.minor;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(dynamic_shared_limit(function));
  return cudaSuccess;
}

// As a GPU without registers would answer: threads and shared memory are the limits.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                          size_t dynamic_shared) {
  const int by_threads = kThreadsPerSm / std::max(threads, 1);
  const int by_shared = static_cast<int>(kSharedPerSm / (dynamic_shared + 1024));
  *blocks = std::min({by_threads, by_shared, 32});
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, size_t dynamic_shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_shared);
}
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* launch) {
  int blocks = 1;
  for (unsigned i = 0; i < launch->numAttrs; ++i) {
    if (launch->attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
    const auto& shape = launch->attrs[i].val.clusterDim;
    const dim3& grid = launch->gridDim;
    // As the driver does: a grid that clusters do not divide has no answer.
    const bool divides = grid.x > 0 && grid.y > 0 && grid.z > 0 && grid.x % shape.x == 0 &&
                         grid.y % shape.y == 0 && grid.z % shape.z == 0;
    if (!divides) return set_last_error(cudaErrorInvalidClusterSize);
    blocks = static_cast<int>(shape.x * shape.y * shape.z);
  }
  const dim3& block = launch->blockDim;
  int on_each = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &on_each, function, static_cast<int>(block.x * block.y * block.z), launch->dynamicSmemBytes);
  *clusters = config.sm_count * on_each / std::max(blocks, 1);
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                 const cudaLaunchConfig_t*) {
  return *blocks = allows_large_clusters(function) ? 16 : 8, cudaSuccess;
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void*, int blocks, int) {
  *bytes = std::min<size_t>(kSharedOptIn, kSharedPerSm / std::max(blocks, 1) - 1024);
  return cudaSuccess;
}

// ---- memory ----

cudaError_t cudaMalloc(void** memory, size_t bytes) { return allocate(memory, bytes); }
cudaError_t cudaMallocAsync(void** memory, size_t bytes, cudaStream_t) {
  return allocate(memory, bytes);
}
cudaError_t cudaMallocManaged(void** memory, size_t bytes, unsigned) {
  return allocate(memory, bytes);
}
cudaError_t cudaMallocHost(void** memory, size_t bytes) { return allocate(memory, bytes); }
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) { return allocate(memory, bytes); }
cudaError_t cudaFree(void* memory) { return release(memory); }
cudaError_t cudaFreeAsync(void* memory, cudaStream_t) { return release(memory); }
cudaError_t cudaFreeHost(void* memory) { return release(memory); }
cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned) {
  return check::allocated(memory, bytes), cudaSuccess;
}
cudaError_t cudaHostUnregister(void* memory) { return check::freed(memory), cudaSuccess; }
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return *device = host, cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  return *available = *total = size_t{4} << 30, cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  *attributes = cudaPointerAttributes{};
  attributes->type = cudaMemoryTypeDevice;
  attributes->devicePointer = attributes->hostPointer = const_cast<void*>(memory);
  return cudaSuccess;
}

// ---- streams and events ----

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return *stream = nullptr, cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return *stream = nullptr, cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return *stream = nullptr, cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return last_error; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaStreamGetFlags(cudaStream_t, unsigned* flags) { return *flags = 0, cudaSuccess; }
cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) {
  return *priority = 0, cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  return *status = cudaStreamCaptureStatusNone, cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned) {
  return callback(stream, last_error, data), cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  return function(data), cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return *event = reinterpret_cast<cudaEvent_t>(new double(0)), cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return delete reinterpret_cast<double*>(event), cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  return *reinterpret_cast<double*>(event) = stamp_ms(), cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  *ms = static_cast<float>(*reinterpret_cast<double*>(end) - *reinterpret_cast<double*>(begin));
  return cudaSuccess;
}
}
#pragma GCC visibility pop
