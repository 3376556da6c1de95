// Launches: every form of them ends in fictl_emu_launch() with one function that runs one thread.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

namespace fictl_emu {

// Arguments are copied once for all threads; each gets its own copy as parameters.
template <typename Kernel, typename... Args>
cudaError_t launch(FictlEmuLaunch& launch, Kernel kernel, std::tuple<Args...> args) {
  struct Call {
    Kernel kernel;
    std::tuple<Args...> args;
  } call{kernel, std::move(args)};
  launch.arguments = &call;
  launch.argument_bytes = sizeof call;
  launch.body = [](const void* arguments) {
    auto& call = *static_cast<Call*>(const_cast<void*>(arguments));
    std::apply(call.kernel, call.args);
  };
  launch.copy = [](const void* arguments) -> const void* {
    return new Call(*static_cast<const Call*>(arguments));
  };
  launch.discard = [](const void* copied) { delete static_cast<const Call*>(copied); };
  return static_cast<cudaError_t>(fictl_emu_launch(&launch));
}

inline FictlEmuLaunch asked_for(const char* name, const void* function, dim3 grid, dim3 block,
                                size_t shared) {
  FictlEmuLaunch asked = {};
  asked.kernel = name;
  asked.function = function;
  asked.grid = grid;
  asked.block = block;
  asked.cluster = dim3(0, 0, 0);  // none is named
  asked.dynamic_shared = shared;
  return asked;
}

// The replacement of `kernel<<<grid, block, shared, stream>>>`.
class Configuration {
 public:
  template <typename Size = int, typename Stream = cudaStream_t>
  Configuration(dim3 grid, dim3 block, Size shared = {}, Stream = {})
      : grid_(grid), block_(block), shared_(static_cast<size_t>(shared)) {}

  // `call` is the kernel's call, so that overloads and deduced template arguments work.
  template <typename Call, typename... Args>
  void run(const char* kernel, Call call, Args&&... args) const {
    FictlEmuLaunch asked = asked_for(kernel, nullptr, grid_, block_, shared_);
    launch(asked, call, std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
  }

 private:
  dim3 grid_;
  dim3 block_;
  size_t shared_;
};

template <typename... Params, size_t... I>
std::tuple<std::decay_t<Params>...> unerased(void** args, std::index_sequence<I...>) {
  return {*static_cast<std::decay_t<Params>*>(args[I])...};
}

// cudaLaunchKernel and its cooperative relative, with the kernel's type.
template <typename... Params>
cudaError_t launch_erased(const char* name, int cooperative, void (*kernel)(Params...), dim3 grid,
                          dim3 block, void** args, size_t shared) {
  FictlEmuLaunch asked =
      asked_for(name, reinterpret_cast<const void*>(kernel), grid, block, shared);
  asked.cooperative = cooperative;
  return launch(asked, kernel, unerased<Params...>(args, std::index_sequence_for<Params...>()));
}

template <typename Kernel>
cudaError_t launch_kernel(const char* name, Kernel kernel, dim3 grid, dim3 block, void** args,
                          size_t shared = 0, cudaStream_t = nullptr) {
  return launch_erased(name, 0, kernel, grid, block, args, shared);
}

template <typename Kernel>
cudaError_t launch_cooperative(const char* name, Kernel kernel, dim3 grid, dim3 block, void** args,
                               size_t shared = 0, cudaStream_t = nullptr) {
  return launch_erased(name, 1, kernel, grid, block, args, shared);
}

}  // namespace fictl_emu

template <typename... Params, typename... Args>
cudaError_t fictl_emu_launch_ex(const cudaLaunchConfig_t* config, void (*kernel)(Params...),
                                Args&&... args) {
  FictlEmuLaunch asked =
      ::fictl_emu::asked_for("a kernel", reinterpret_cast<const void*>(kernel), config->gridDim,
                             config->blockDim, config->dynamicSmemBytes);
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative)
      asked.cooperative = attribute.val.cooperative;
    if (attribute.id == cudaLaunchAttributeClusterDimension) {
      const auto& cluster = attribute.val.clusterDim;
      asked.cluster = dim3(cluster.x, cluster.y, cluster.z);
    }
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization)
      asked.programmatic = attribute.val.programmaticStreamSerializationAllowed;
  }
  return ::fictl_emu::launch(asked, kernel,
                             std::tuple<std::decay_t<Params>...>(std::forward<Args>(args)...));
}

#define cudaLaunchKernelEx fictl_emu_launch_ex
#define cudaLaunchKernel(...) ::fictl_emu::launch_kernel(#__VA_ARGS__, __VA_ARGS__)
#define cudaLaunchCooperativeKernel(...) ::fictl_emu::launch_cooperative(#__VA_ARGS__, __VA_ARGS__)

// ---- forms with a kernel's type, which cuda_runtime.h has only where nvcc compiles ----

template <typename... Params>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Params...), cudaFuncAttribute which, int value) {
  return ::cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), which, value);
}

template <typename... Params>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*kernel)(Params...)) {
  return ::cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}

template <typename... Params>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*kernel)(Params...),
                                                          int threads, size_t shared) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, reinterpret_cast<const void*>(kernel), threads, shared);
}

template <typename Variable>
cudaError_t cudaMemcpyToSymbol(Variable& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol(static_cast<const void*>(&symbol), from, bytes, offset, kind);
}

template <typename Variable>
cudaError_t cudaMemcpyFromSymbol(void* to, const Variable& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(to, static_cast<const void*>(&symbol), bytes, offset, kind);
}

template <typename Variable>
cudaError_t cudaGetSymbolAddress(void** address, Variable& symbol) {
  return ::cudaGetSymbolAddress(address, static_cast<const void*>(&symbol));
}
