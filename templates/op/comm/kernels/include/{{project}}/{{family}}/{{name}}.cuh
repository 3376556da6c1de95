{% from "_macros/comment.jinja" import comment %}
{% set x, out = inputs[0].name, outputs[0].name %}
{{ comment(name ~ ": every rank gets the inputs of all, in the order of the ranks.") }}
//
// Algorithm: a block writes its part of the rank's input into a slot of every rank's workspace,
// waits for the same block of the others, and copies its part of all slots to the output. Data
// cross a link once, and a flag follows them: a peer that sees the flag sees the data. The
// workspace has two halves, used by turns, so that a rank that is ahead does not overwrite what
// another still reads; it cannot be two calls ahead, as each waits for the others.
//
// Every rank launches the same grid: it follows from sizes alone, which are equal on all ranks. All
// blocks must be resident at once, as they wait for one another.
//
// Traffic: of N ranks and B bytes each, (N - 1) B leave and enter over the links; N B are written
// to, N B read from, and N B written to this GPU's memory.
//
// Tiling: words of up to 16 bytes; a block has the same ones on every rank.
#pragma once

#include <fictl/comm/turn.cuh>
#include <fictl/device/launch.cuh>

#include <cstdint>

namespace {{ project }}::{{ family }} {

{% if project != "fictl" %}
namespace comm = fictl::comm;
namespace device = fictl::device;

{% endif %}
constexpr int k{{ title }}Threads = 512;
constexpr int k{{ title }}Blocks = 64;

// words: of each rank's input. room: bytes of data in the memory of each rank.
template <typename Word>
__global__ void __launch_bounds__(k{{ title }}Threads)
{{ cpp("    " ~ title ~ "Kernel(", ["const __grid_constant__ comm::Peers peers", "Word* " ~ out, "const Word* " ~ x, "int64_t words", "int64_t room"], ") {") }}
  device::pdl_wait();
  const int64_t half = comm::turn_offset(peers, room);
  const auto slots = [&](int rank) { return peers.data<Word>(rank, half); };
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;

  for (int64_t i = first; i < words; i += step) {
    const Word word = {{ x }}[i];
    for (int to = 0; to < peers.size; ++to) {
      const int peer = (peers.rank + to) % peers.size;  // Why: each link has one writer at a time.
      slots(peer)[peers.rank * words + i] = word;
    }
  }
  comm::barrier(peers);
  for (int from = 0; from < peers.size; ++from) {
    for (int64_t i = first; i < words; i += step) {
      {{ out }}[from * words + i] = slots(peers.rank)[from * words + i];
    }
  }
  comm::end_turn(peers);
}

template <typename Word>
{{ cpp("cudaError_t Launch" ~ title ~ "(", ["device::LaunchConfig config", "const comm::Peers& peers", "void* " ~ out, "const void* " ~ x, "int64_t bytes", "int64_t room"], ") {") }}
  const int64_t words = bytes / static_cast<int64_t>(sizeof(Word));
  const int64_t wanted = (words + k{{ title }}Threads - 1) / k{{ title }}Threads;
  const int most = peers.most_blocks < k{{ title }}Blocks ? peers.most_blocks : k{{ title }}Blocks;
  config.grid = dim3(static_cast<unsigned>(wanted < most ? wanted : most));
  config.block = dim3(k{{ title }}Threads);
{{ cpp("  return device::launch<" ~ title ~ "Kernel<Word>>(", ["config", "peers", "static_cast<Word*>(" ~ out ~ ")", "static_cast<const Word*>(" ~ x ~ ")", "words", "room"], ");") }}
}

// bytes: of {{ x }}, which starts at a multiple of 16 bytes, as {{ out }} does.
{{ cpp("inline cudaError_t " ~ title ~ "(", ["const comm::Peers& peers", "void* " ~ out, "const void* " ~ x, "int64_t bytes", "int64_t room", "cudaStream_t stream = nullptr", "bool pdl = false"], ") {") }}
  if (bytes == 0) return cudaSuccess;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  // Why by the size alone: words must be the same on all ranks.
  const auto launch = bytes % 16 == 0  ? Launch{{ title }}<uint4>
                      : bytes % 4 == 0 ? Launch{{ title }}<uint32_t>
                                       : Launch{{ title }}<uint8_t>;
  return launch(config, peers, {{ out }}, {{ x }}, bytes, room);
}

}  // namespace {{ project }}::{{ family }}
