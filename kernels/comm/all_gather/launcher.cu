#include <binding/launch.h>
#include <binding/peers.h>

#include <fictl/comm/all_gather.cuh>

namespace fictl::comm {

void all_gather(const Launch& launch, View output, View input, View host_peers, bool enable_pdl) {
  CUDA_CHECK(launch, AllGather(peers_of(launch, host_peers), input.data<const void>(),
                               output.data<void>(), input.numel() * input.dtype().bits / 8,
                               peers_bytes(host_peers), launch.stream, launch.pdl && enable_pdl));
}

}  // namespace fictl::comm
