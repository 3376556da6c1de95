// A push of words to the peers and what is done with theirs, in stages: while the links carry one
// stage, this GPU's memory is busy with the one before.
//
// A block owns the same words on every rank, so it waits for the same block of its peers alone.
#pragma once

#include <fictl/comm/turn.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::comm {

constexpr int kStageThreads = 384;
// Why two: while one uses what has come, the links carry what the other pushes.
constexpr int kStageBlocksOfSm = 2;
constexpr int kMostStages = 16;

struct StageShape {
  int64_t words;  // of each rank's part
  int64_t room;   // bytes of data in the memory of each rank, for two turns
  int stages;
};

// A word of the caller's tensor. Its address need not be a multiple of the word, as which words
// there are follows from sizes alone: another rank's tensor may be aligned otherwise.
template <int N, typename T>
__device__ device::Vec<T, N> load_word(const T* from, bool aligned) {
  if (aligned) return device::load_l2<N>(from);
  device::Vec<T, N> word;
#pragma unroll
  for (int n = 0; n < N; ++n) word[n] = from[n];
  return word;
}

template <int N, typename T>
__device__ void store_word(T* to, device::Vec<T, N> word, bool aligned) {
  if (aligned) return device::store_l2(to, word);
#pragma unroll
  for (int n = 0; n < N; ++n) to[n] = word[n];
}

template <int N, typename T>
bool is_aligned(const T* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % (N * sizeof(T)) == 0;
}

// A range of the words that a thread does one after another.
struct Stride {
  int64_t begin;
  int64_t end;
  int64_t step;
};

// `store(i, load(i))` for each i of the range. Why in groups: the loads of a group are in flight
// together; the compiler cannot move one across a store.
template <int kGroup = 4, typename Load, typename Store>
__device__ void for_each_word(const Stride& range, Load load, Store store) {
  int64_t i = range.begin;
  for (; i + (kGroup - 1) * range.step < range.end; i += kGroup * range.step) {
    decltype(load(i)) words[kGroup];
#pragma unroll
    for (int n = 0; n < kGroup; ++n) words[n] = load(i + n * range.step);
#pragma unroll
    for (int n = 0; n < kGroup; ++n) store(i + n * range.step, words[n]);
  }
  for (; i < range.end; i += range.step) store(i, load(i));
}

__device__ inline Stride stage_words(const StageShape& shape, int stage) {
  const int64_t each = (shape.words + shape.stages - 1) / shape.stages;
  const int64_t begin = stage * each;
  const int64_t end = begin + each < shape.words ? begin + each : shape.words;
  const int64_t first = begin + int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  return {first, end, int64_t{gridDim.x} * blockDim.x};
}

// push(range, half) writes this rank's words to all peers, at the offset `half` of their data;
// take(range, half) uses what they wrote here.
template <typename Push, typename Take>
__device__ void in_stages(const Peers& peers, const StageShape& shape, Push push, Take take) {
  const int64_t half = turn_offset(peers, shape.room);
  const uint32_t before = passed(peers);
  for (int stage = 0; stage <= shape.stages; ++stage) {
    if (stage < shape.stages) {
      push(stage_words(shape, stage), half);
      arrive(peers, before + stage + 1);
      // Why here: the counters of the next call are written while the first data are on their way.
      if (stage == 0) {
        set_passed(peers, before + shape.stages);
        end_turn(peers);
      }
    }
    if (stage > 0) {
      await(peers, before + stage);
      take(stage_words(shape, stage - 1), half);
    }
  }
}

// Launches a kernel of (peers, shape, arguments...) over `words` words. Its grid follows from
// values that are equal on all ranks.
template <auto kernel, typename... Args>
cudaError_t launch_stages(const Peers& peers, int64_t words, int64_t room, cudaStream_t stream,
                          bool pdl, Args... arguments) {
  if (words == 0) return cudaSuccess;
  // Words of a block in a stage, at least. Why so many: a stage waits for the flags of all ranks.
  constexpr int64_t kWordsOfStage = int64_t{kStageThreads} * 16;
  const int64_t wanted = (words + kStageThreads - 1) / kStageThreads;
  const int64_t most = resident_blocks(peers, kStageBlocksOfSm);
  const int64_t blocks = wanted < most ? wanted : most;
  const int64_t stages = words / (blocks * kWordsOfStage);
  StageShape shape{words, room, 1};
  if (stages > 1) shape.stages = static_cast<int>(stages < kMostStages ? stages : kMostStages);
  device::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(blocks));
  config.block = dim3(kStageThreads);
  config.stream = stream;
  config.pdl = pdl;
  return device::launch<kernel>(config, peers, shape, arguments...);
}

}  // namespace fictl::comm
