// Kernels from cubins, as Triton makes them: loaded on first use, launched like any other.
#pragma once

#include <binding/launch.h>

#if CUDART_VERSION < 12080
#error "a kernel that comes as a cubin needs CUDA 12.8 or newer, for cudaLibraryLoadData"
#endif

namespace fictl {

// Code for one compute capability (90), or PTX, which newer GPUs translate.
struct Cubin {
  int arch;
  bool ptx;
  const char* code;
  const char* entry;
  int threads;
  int shared_bytes;

  bool runs_on(int gpu) const {
    if (ptx) return arch <= gpu;
    if (arch >= 90) return arch == gpu;  // Triton compiles for that GPU alone, as for sm_90a.
    return arch / 10 == gpu / 10 && arch <= gpu;
  }
};

// One kernel on every GPU of the machine. To be a static of a function, never destroyed: a process
// ends without unloading code.
class CubinKernel {
 public:
  // Loads, for each GPU, the last cubin that it runs: they are ordered from worst to best.
  template <int kCount>
  explicit CubinKernel(const Cubin (&cubins)[kCount]) {
    Loaded loaded[kCount] = {};
    int devices = 0;
    cudaGetDeviceCount(&devices);
    on_ = new Loaded[devices]();
    for (int device = 0; device < devices; ++device) {
      const int gpu = capability(device);
      for (int i = kCount - 1; i >= 0; --i) {
        if (!cubins[i].runs_on(gpu)) continue;
        if (loaded[i].cubin == nullptr) loaded[i] = load(cubins[i]);
        on_[device] = loaded[i];
        break;
      }
    }
  }

  // Launches a one-dimensional grid. Checks the size, which dim3 would truncate.
  cudaError_t launch(const Launch& launch, int64_t programs, void** arguments) const {
    if (programs > INT32_MAX) return cudaErrorInvalidConfiguration;
    return this->launch(launch, dim3(programs), arguments);
  }

  cudaError_t launch(const Launch& launch, dim3 grid, void** arguments) const {
    constexpr int kSharedWithoutOptIn = 48 * 1024;
    const Loaded& loaded = on_[launch.device];
    if (loaded.status != cudaSuccess) return loaded.status;
    const void* kernel = reinterpret_cast<const void*>(loaded.kernel);
    if (loaded.cubin->shared_bytes > kSharedWithoutOptIn) {
      const cudaError_t status = cudaFuncSetAttribute(
          kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, loaded.cubin->shared_bytes);
      if (status != cudaSuccess) return status;
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3(loaded.cubin->threads);
    config.dynamicSmemBytes = loaded.cubin->shared_bytes;
    config.stream = launch.stream;
    return cudaLaunchKernelExC(&config, kernel, arguments);
  }

 private:
  struct Loaded {
    const Cubin* cubin = nullptr;
    cudaKernel_t kernel = nullptr;
    cudaError_t status = cudaErrorNoKernelImageForDevice;
  };

  static int capability(int device) {
    int major = 0;
    int minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    return 10 * major + minor;
  }

  // Works while the stream is captured into a graph, too.
  static Loaded load(const Cubin& cubin) {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&mode);
    Loaded loaded{&cubin};
    cudaLibrary_t library = nullptr;
    loaded.status =
        cudaLibraryLoadData(&library, cubin.code, nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (loaded.status == cudaSuccess) {
      loaded.status = cudaLibraryGetKernel(&loaded.kernel, library, cubin.entry);
    }
    cudaThreadExchangeStreamCaptureMode(&mode);
    return loaded;
  }

  Loaded* on_;
};

inline bool multiple_of_16(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % 16 == 0;
}
inline bool multiple_of_16(int64_t value) { return value % 16 == 0; }

template <typename... Args>
bool multiples_of_16(Args... args) {
  return (multiple_of_16(args) && ...);
}

}  // namespace fictl
