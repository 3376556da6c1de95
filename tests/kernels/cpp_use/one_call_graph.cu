// A graph captures attention in one call: refused while the workspace is too small, and replayed
// after it has grown, with the same result. Exits with 0 if all is right, 77 where there is no GPU.
#include <math.h>
#include <stdio.h>

#include <fictl/attention/with_kv_cache.cuh>

namespace attention = fictl::attention;

constexpr int kDim = 64;
constexpr int kKeys = 4096;

static __half* rows(int count) {
  __half* made = nullptr;
  if (cudaMallocManaged(&made, sizeof(__half) * count * kDim) != cudaSuccess) return nullptr;
  for (int i = 0; i < count * kDim; ++i) made[i] = __float2half(sinf(static_cast<float>(i)));
  return made;
}

static bool say(const char* what, bool right) {
  printf("%s %s\n", right ? "ok  " : "FAIL", what);
  return right;
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  __half* q = rows(4);
  __half* k = rows(kKeys);
  __half* v = rows(kKeys);
  __half* out = rows(4);
  attention::Workspace workspace;
  attention::CallOptions options;
  if (cudaStreamCreate(&options.stream) != cudaSuccess) return 2;
  const auto call = [&] {
    return attention::SingleDecodeWithKVCache<kDim>(q, k, v, out, {4, 1, kKeys}, workspace,
                                                    options);
  };
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(options.stream, cudaStreamCaptureModeThreadLocal);
  bool right = say("too small while captured",
                   call() == cudaErrorStreamCaptureUnsupported && !workspace.problem().empty());
  cudaStreamEndCapture(options.stream, &graph);

  right &= say("eager", call() == cudaSuccess);
  cudaStreamSynchronize(options.stream);
  const __half eager = out[5];
  cudaStreamBeginCapture(options.stream, cudaStreamCaptureModeThreadLocal);
  right &= say("captured", call() == cudaSuccess);
  right &= say("ended", cudaStreamEndCapture(options.stream, &graph) == cudaSuccess);
  out[5] = __float2half(7.0f);
  cudaGraphExec_t run = nullptr;
  right &= say("instantiated", cudaGraphInstantiate(&run, graph, 0) == cudaSuccess);
  right &= say("launched", cudaGraphLaunch(run, options.stream) == cudaSuccess);
  right &= say("synchronised", cudaStreamSynchronize(options.stream) == cudaSuccess);
  right &= say("the same", __half2float(out[5]) == __half2float(eager));
  return right ? 0 : 1;
}
