#include <binding/channel.h>
#include <binding/launch.h>

#include <fictl/comm/all_reduce.cuh>

namespace fictl::comm {

void all_reduce(const Launch& launch, View output, View input, View host_peers,
                int64_t lamport_bytes, int64_t flag_bytes, int64_t protocol, bool two_shot,
                bool enable_pdl) {
  const ChannelOf channel(launch, {host_peers, lamport_bytes, flag_bytes, protocol, two_shot});
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16, float), {
    channel.check(launch, AllReduce(input.data<const T>(), output.data<T>(), input.numel(),
                                    channel.peers, channel.sizes, channel.exchange, launch.stream,
                                    launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::comm
