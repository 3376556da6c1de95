// The exchange of an all-reduce from its arguments, and what is wrong with these in words.
#pragma once

#include <binding/channel_arguments.h>
#include <binding/peers.h>

#include <fictl/comm/row_exchange.cuh>

namespace fictl {

class ChannelOf {
 public:
  ChannelOf(const Launch& launch, const ChannelArguments& arguments)
      : peers(peers_of(launch, arguments.host_peers)),
        sizes{arguments.lamport_bytes, arguments.flag_bytes},
        exchange{arguments.protocol == 0 ? comm::Protocol::kLamport : comm::Protocol::kFlags,
                 arguments.two_shot} {
    const int64_t room = peers_bytes(arguments.host_peers);
    const bool fits = sizes.lamport >= 0 && sizes.flags >= 0 && sizes.lamport % 16 == 0 &&
                      sizes.flags % 16 == 0 && sizes.lamport <= room && sizes.flags <= room &&
                      sizes.bytes() <= room;
    if (fits) return;
    throw argument_error(ErrorKind::ValueError, launch.op, "workspace")
        << "has room for " << room << " bytes, but buffers of " << sizes.lamport << " and "
        << sizes.flags << " bytes; pass an AllReduceWorkspace";
  }

  void check(const Launch& launch, cudaError_t status) const {
    if (status == cudaErrorInvalidValue) {
      throw argument_error(ErrorKind::ValueError, launch.op, "workspace")
          << "has buffers of " << sizes.of(exchange.protocol)
          << " bytes, too few for this input; pass an AllReduceWorkspace with room for it";
    }
    CUDA_CHECK(launch, status);
  }

  comm::Peers peers;
  comm::ChannelSizes sizes;
  comm::Exchange exchange;
};

}  // namespace fictl
