#include <binding/launch.h>
#include <binding/peers.h>

#include <fictl/comm/reduce_scatter.cuh>

namespace fictl::comm {

void reduce_scatter(const Launch& launch, View output, View input, View host_peers,
                    bool enable_pdl) {
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16, float), {
    CUDA_CHECK(launch, ReduceScatter(peers_of(launch, host_peers), input.data<const T>(),
                                     output.data<T>(), output.numel(), peers_bytes(host_peers),
                                     launch.stream, launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::comm
