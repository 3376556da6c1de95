// all_gather: every rank gets the input of all, in the order of the ranks.
//
// Algorithm: a block pushes its part of the rank's input into a slot of every peer's workspace,
// waits for the same block of the peers, and copies its part of their slots to the output. Why a
// push: data cross the link once, and only a flag follows; a pull would wait for the peer first,
// and then for the data. Why through a workspace: the output is the caller's, and no peer knows its
// address.
//
// Traffic: of N ranks and B bytes each, (N - 1) B leave and enter over the links, are read again
// and written; B are read and written once more on this GPU.
//
// Tiling: words of up to 16 bytes in stages (stages.cuh).
#pragma once

#include <fictl/comm/stages.cuh>

namespace fictl::comm {

// kAligned: words of input and output can be accessed as such; else byte by byte.
template <int N, bool kAligned>
__global__ void __launch_bounds__(kStageThreads, kStageBlocksOfSm)
    AllGatherKernel(const __grid_constant__ Peers peers, StageShape shape, const uint8_t* input,
                    uint8_t* output) {
  using Word = device::Vec<uint8_t, N>;
  constexpr int kGroup = kAligned ? 4 : 1;
  begin(peers);
  const int64_t own = peers.rank * shape.words * N;
  const auto push = [&](Stride range, int64_t half) {
    for_each_word<kGroup>(
        range, [&](int64_t i) { return load_word<N>(input + i * N, kAligned); },
        [&](int64_t i, Word word) {
          store_word(output + own + i * N, word, kAligned);
          // Why from the next rank on: each link has one writer at a time.
          for (int to = 1; to < peers.size; ++to) {
            const int peer = (peers.rank + to) % peers.size;
            device::store_l2(peers.data<uint8_t>(peer, half) + own + i * N, word);
          }
        });
  };
  const auto take = [&](Stride range, int64_t half) {
    const uint8_t* slots = peers.data<uint8_t>(peers.rank, half);
    for (int from = 0; from < peers.size; ++from) {
      if (from == peers.rank) continue;
      const int64_t slot = from * shape.words * N;
      for_each_word<kGroup>(
          range, [&](int64_t i) { return device::load_l2<N>(slots + slot + i * N); },
          [&](int64_t i, Word word) { store_word(output + slot + i * N, word, kAligned); });
    }
  };
  in_stages(peers, shape, push, take);
}

template <int N>
cudaError_t LaunchAllGather(const Peers& peers, const uint8_t* input, uint8_t* output,
                            int64_t bytes, int64_t room, cudaStream_t stream, bool pdl) {
  // Why: ranks may share a GPU, and a tensor of one be aligned otherwise than that of another.
  const cudaError_t status =
      device::load_kernels<AllGatherKernel<N, true>, AllGatherKernel<N, false>>();
  if (status != cudaSuccess) return status;
  if (is_aligned<N>(input) && is_aligned<N>(output)) {
    return launch_stages<AllGatherKernel<N, true>>(peers, bytes / N, room, stream, pdl, input,
                                                   output);
  }
  return launch_stages<AllGatherKernel<N, false>>(peers, bytes / N, room, stream, pdl, input,
                                                  output);
}

// bytes: of the input, which may be the rank's part of output. room: bytes of data in the memory of
// each rank; half of it holds the output.
inline cudaError_t AllGather(const Peers& peers, const void* input, void* output, int64_t bytes,
                             int64_t room, cudaStream_t stream = nullptr, bool pdl = false) {
  const auto launch = bytes % 16 == 0  ? LaunchAllGather<16>
                      : bytes % 4 == 0 ? LaunchAllGather<4>
                                       : LaunchAllGather<1>;
  return launch(peers, static_cast<const uint8_t*>(input), static_cast<uint8_t*>(output), bytes,
                room, stream, pdl);
}

}  // namespace fictl::comm
