#include <binding/launch.h>
#include <binding/peers.h>

#include <my_kernels/comm/gather_rows.cuh>

namespace my_kernels::comm {

using fictl::Launch;
using fictl::View;

void gather_rows(const Launch& launch, View out, View x, View host_peers) {
  const auto peers = fictl::peers_of(launch, host_peers);
  const int64_t bytes = x.numel() * x.dtype().bits / 8;
  const int64_t room = fictl::peers_bytes(host_peers);
  CUDA_CHECK(launch, GatherRows(peers, out.data<void>(), x.data<const void>(), bytes, room,
                                launch.stream, launch.pdl));
}

}  // namespace my_kernels::comm
