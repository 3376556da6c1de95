// reduce_scatter: the input of every rank has a part for each of them; a rank gets the sum of those
// that are its own.
//
// Algorithm: a block pushes the other ranks' parts of the input into slots of their workspaces, and
// adds what they pushed here: in the order of the ranks, in fp32, rounded once. So the sum has the
// same bits whichever rank computes it.
//
// Traffic: of N ranks and parts of B bytes, (N - 1) B leave and enter over the links, are read
// again on this GPU; N B are read and B written.
//
// Tiling: vectors of 16 bytes, or single elements, in stages (stages.cuh).
#pragma once

#include <fictl/comm/stages.cuh>
#include <fictl/device/convert.cuh>

namespace fictl::comm {

template <typename T, int N>
__global__ void __launch_bounds__(kStageThreads, kStageBlocksOfSm)
    ReduceScatterKernel(const __grid_constant__ Peers peers, StageShape shape, const T* input,
                        T* output, bool input_aligned, bool output_aligned) {
  using Vec = device::Vec<T, N>;
  constexpr int kBatch = 4;
  begin(peers);
  const auto own_slot = [&](int of, int64_t half) {
    return peers.data<T>(of, half) + peers.rank * shape.words * N;
  };
  const auto push = [&](Stride range, int64_t half) {
    // Why from the next rank on: each link has one writer at a time.
    for (int to = 1; to < peers.size; ++to) {
      const int peer = (peers.rank + to) % peers.size;
      const T* part = input + peer * shape.words * N;
      T* slot = own_slot(peer, half);
      for_each_word(
          range, [&](int64_t i) { return load_word<N>(part + i * N, input_aligned); },
          [&](int64_t i, Vec vec) { device::store_l2(slot + i * N, vec); });
    }
  };
  const auto take = [&](Stride range, int64_t half) {
    const T* slots = peers.data<T>(peers.rank, half);
    for (int64_t i = range.begin; i < range.end; i += range.step) {
      float sum[N] = {};
      // Why batches: the loads of a batch are in flight together.
#pragma unroll 1
      for (int first = 0; first < peers.size; first += kBatch) {
        Vec parts[kBatch];
#pragma unroll
        for (int j = 0; j < kBatch; ++j) {
          const int from = first + j;
          if (from >= peers.size) continue;
          const bool is_own = from == peers.rank;
          const T* part = (is_own ? input : slots) + (from * shape.words + i) * N;
          parts[j] = load_word<N>(part, !is_own || input_aligned);
        }
#pragma unroll
        for (int j = 0; j < kBatch; ++j) {
          if (first + j >= peers.size) continue;
          float values[N];
          device::to_float(parts[j], values);
          for (int n = 0; n < N; ++n) sum[n] = first + j == 0 ? values[n] : sum[n] + values[n];
        }
      }
      store_word(output + i * N, device::from_float<T, N>(sum), output_aligned);
    }
  };
  in_stages(peers, shape, push, take);
}

template <typename T, int N>
cudaError_t LaunchReduceScatter(const Peers& peers, const T* input, T* output, int64_t count,
                                int64_t room, cudaStream_t stream, bool pdl) {
  return launch_stages<ReduceScatterKernel<T, N>>(peers, count / N, room, stream, pdl, input,
                                                  output, is_aligned<N>(input),
                                                  is_aligned<N>(output));
}

// count: elements of a part. room: bytes of data in the memory of each rank; half of it holds the
// input.
template <typename T>
cudaError_t ReduceScatter(const Peers& peers, const T* input, T* output, int64_t count,
                          int64_t room, cudaStream_t stream = nullptr, bool pdl = false) {
  constexpr int N = device::kVecBytes / sizeof(T);
  const auto launch = count % N == 0 ? LaunchReduceScatter<T, N> : LaunchReduceScatter<T, 1>;
  return launch(peers, input, output, count, room, stream, pdl);
}

}  // namespace fictl::comm
