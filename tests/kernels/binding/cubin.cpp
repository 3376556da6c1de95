// A machine of three GPUs that is not there: which code CubinKernel loads and launches on each.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <binding/cubin.h>

constexpr int kGpus[] = {80, 86, 120};
int loads = 0;
bool relaxed = false;

extern "C" {
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 3;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const bool major = attribute == cudaDevAttrComputeCapabilityMajor;
  *value = major ? kGpus[device] / 10 : kGpus[device] % 10;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  relaxed = *mode == cudaStreamCaptureModeRelaxed;
  *mode = cudaStreamCaptureModeGlobal;
  return cudaSuccess;
}
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  ++loads;
  *library = (cudaLibrary_t)code;
  if (!relaxed) return cudaErrorStreamCaptureUnsupported;
  return strcmp((const char*)code, "broken") == 0 ? cudaErrorInvalidKernelImage : cudaSuccess;
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char*) {
  *kernel = (cudaKernel_t)library;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int bytes) {
  printf("opt-in %d, ", bytes);
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void**) {
  printf("%s <%u, %u, %zu>", (const char*)kernel, config->gridDim.x, config->blockDim.x,
         config->dynamicSmemBytes);
  return cudaSuccess;
}
}

constexpr fictl::Cubin kFamily[] = {{80, false, "8.0", "f", 128, 0},
                                    {86, false, "8.6", "f", 256, 65536}};
constexpr fictl::Cubin kTranslated[] = {{80, true, "ptx", "f", 128, 0},
                                        {80, false, "8.0", "f", 128, 0}};
constexpr fictl::Cubin kOther[] = {{90, false, "9.0", "f", 128, 0},
                                   {100, false, "10.0", "f", 128, 0},
                                   {121, false, "12.1", "f", 128, 0}};
constexpr fictl::Cubin kBroken[] = {{80, false, "broken", "f", 128, 0}};

template <int N>
void show(const char* name, const fictl::Cubin (&cubins)[N], int64_t programs = 5) {
  loads = 0;
  const fictl::CubinKernel kernel(cubins);
  for (int device = 0; device < 3; ++device) {
    printf("%s %d: ", name, device);
    const cudaError_t status =
        kernel.launch(fictl::Launch{nullptr, device, 1, false, "f"}, programs, nullptr);
    const bool none = status == cudaErrorNoKernelImageForDevice;
    printf("%s\n", status == cudaSuccess ? "" : none ? "none" : "error");
  }
  printf("%s loads: %d\n", name, loads);
}

int main() {
  show("family", kFamily);
  show("translated", kTranslated);
  show("other", kOther);
  show("broken", kBroken);
  show("large", kTranslated, INT64_C(1) << 32);
  const auto* at_32 = reinterpret_cast<int*>(32);
  printf("multiples: %d%d%d\n", fictl::multiples_of_16(at_32, int64_t{48}),
         fictl::multiples_of_16(at_32, 8), fictl::multiples_of_16(at_32 + 1, int64_t{48}));
}
