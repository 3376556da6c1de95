// The argument `host_peers` of an op: the addresses of the ranks' memory, a tensor on the host.
#pragma once

#include <binding/launch.h>

#include <fictl/comm/peers.cuh>

namespace fictl {

// The words of the table; fictl/comm/workspace.py writes it.
constexpr int64_t kPeersMagic = 0x666963746C31;
constexpr int kPeersFirst = 8;

inline int64_t peers_word(View table, int word) { return table.data<const int64_t>()[word]; }

inline comm::Peers peers_of(const Launch& launch, View host_peers) {
  constexpr int kWords = kPeersFirst + comm::kMostRanks;
  const bool fits = host_peers.device().device_type == kDLCPU && host_peers.contiguous() &&
                    host_peers.numel() == kWords && same_dtype(host_peers.dtype(), kInt64);
  if (!fits || peers_word(host_peers, 0) != kPeersMagic) {
    throw argument_error(ErrorKind::ValueError, launch.op, "workspace")
        << "has no table of peers; pass one of fictl.comm.Workspace";
  }
  comm::Peers peers = {};
  peers.rank = static_cast<int>(peers_word(host_peers, 1));
  peers.size = static_cast<int>(peers_word(host_peers, 2));
  peers.most_blocks = static_cast<int>(peers_word(host_peers, 4));
  peers.patience_ns = peers_word(host_peers, 5);
  peers.late = reinterpret_cast<comm::Late*>(peers_word(host_peers, 6));
  peers.have_gpus = peers_word(host_peers, 7) != 0;
  for (int rank = 0; rank < peers.size; ++rank) {
    peers.memory[rank] = reinterpret_cast<char*>(peers_word(host_peers, kPeersFirst + rank));
  }
  return peers;
}

// Bytes of data that each rank has room for.
inline int64_t peers_bytes(View host_peers) { return peers_word(host_peers, 3); }

}  // namespace fictl
