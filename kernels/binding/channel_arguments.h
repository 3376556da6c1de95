// The arguments of all-reduces that say how ranks exchange. Equal on all ranks.
#pragma once

#include <binding/view.h>

namespace fictl {

struct ChannelArguments {
  View host_peers;
  int64_t lamport_bytes;  // of one buffer of each protocol
  int64_t flag_bytes;
  int64_t protocol;
  bool two_shot;
};

}  // namespace fictl
