// concat_mla_k: the keys of MLA's prefill, k[token, head] = (nope[token, head], rope[token]): what
// is a head's own, and behind it what all heads of a token share.
//
// Traffic: nope and rope are read once and k is written once: of 128 heads of 128 + 64 values of
// bf16, 257 bytes are read and 384 written a head. Nothing is computed, so elements are copied as
// bytes, and the limit is the memory's bandwidth. Every head reads the rope of its token, but from
// L1 after the first of a block. What is read once leaves L2 first; k stays, for the attention that
// comes next.
//
// Tiling: the 16 bytes of k are numbered through a token's heads, and adjacent threads have
// adjacent ones: full sectors are written whatever a head's size is. A division by a constant of
// the launch finds head and place. A thread has two of them, both loads first. Why two: a third of
// the loads of MLA's heads are of rope, and hide little of the memory's latency; with two, 2048
// threads per SM have 40 KiB of nope on their way.
//
// If a pointer, a stride or a size is not a multiple of 16 bytes, a thread copies the largest power
// of two that all are multiples of.
#pragma once

#include <fictl/device/launch.cuh>
#include <fictl/device/row_units.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::elementwise {

constexpr int kConcatThreads = 256;
constexpr int kConcatUnits = 2;  // a thread

using ConcatTokens = device::RowUnits<kConcatUnits>;

// Heads of all tokens: the first one, and how far it is to that of the next token and head. In
// bytes, or in words.
template <typename T>
struct ConcatHeads {
  T* data;
  int64_t token_pitch;
  int64_t head_pitch;

  __device__ T* at(int64_t token, int head) const {
    return data + token * token_pitch + head * head_pitch;
  }
};

// Sizes and strides in bytes; the head_pitch of rope is 0.
struct ConcatProblem {
  ConcatHeads<char> k;
  ConcatHeads<const char> nope;
  ConcatHeads<const char> rope;
  int64_t tokens;
  int64_t heads;
  int64_t nope_bytes;  // of a head
  int64_t rope_bytes;

  // True if a thread can copy so many bytes at once.
  bool multiple_of(int bytes) const {
    int64_t all = nope_bytes | rope_bytes | k.token_pitch | k.head_pitch | nope.token_pitch |
                  nope.head_pitch | rope.token_pitch;
    for (const char* data : {static_cast<const char*>(k.data), nope.data, rope.data}) {
      all |= reinterpret_cast<int64_t>(data);
    }
    return all % bytes == 0;
  }
};

template <typename Word>
__global__ void __launch_bounds__(kConcatThreads)
    ConcatMlaKKernel(ConcatHeads<Word> k, ConcatHeads<const Word> nope,
                     ConcatHeads<const Word> rope, ConcatTokens tokens, device::Divisor head_words,
                     int nope_words) {
  Word held[kConcatUnits];
  Word* to[kConcatUnits];
  device::pdl_wait();
  device::pdl_trigger();
#pragma unroll
  for (int i = 0; i < kConcatUnits; ++i) {
    const ConcatTokens::Unit unit = tokens.mine(i);
    const auto [head, word] = head_words.divide(unit.unit);
    to[i] = unit.exists ? k.at(unit.row, head) + word : nullptr;
    if (!unit.exists) continue;
    held[i] = word < nope_words ? __ldcs(nope.at(unit.row, head) + word)
                                : __ldca(rope.at(unit.row, head) + (word - nope_words));
  }
#pragma unroll
  for (int i = 0; i < kConcatUnits; ++i) {
    if (to[i] != nullptr) __stcg(to[i], held[i]);
  }
}

template <typename Word, typename T>
ConcatHeads<T> in_words(
    const ConcatHeads<std::conditional_t<std::is_const_v<T>, const char, char>>& x) {
  constexpr int64_t kBytes = sizeof(Word);
  return {reinterpret_cast<T*>(x.data), x.token_pitch / kBytes, x.head_pitch / kBytes};
}

template <typename Word>
cudaError_t LaunchConcatMlaK(device::LaunchConfig config, const ConcatProblem& problem) {
  constexpr int64_t kBytes = sizeof(Word);
  const int64_t head_words = (problem.nope_bytes + problem.rope_bytes) / kBytes;
  const ConcatTokens tokens(problem.tokens, static_cast<int>(problem.heads * head_words),
                            kConcatThreads);
  config.grid = tokens.grid();
  config.block = tokens.block();
  return device::launch<ConcatMlaKKernel<Word>>(
      config, in_words<Word, Word>(problem.k), in_words<Word, const Word>(problem.nope),
      in_words<Word, const Word>(problem.rope), tokens,
      device::Divisor(static_cast<int>(head_words)), static_cast<int>(problem.nope_bytes / kBytes));
}

// The bytes of a token's heads are below 2^31. `pdl`: use programmatic dependent launch where the
// GPU supports it.
inline cudaError_t ConcatMlaK(const ConcatProblem& problem, cudaStream_t stream = nullptr,
                              bool pdl = false) {
  if (problem.tokens * problem.heads * (problem.nope_bytes + problem.rope_bytes) == 0) {
    return cudaSuccess;
  }
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  const auto launch = [&](auto word) { return LaunchConcatMlaK<decltype(word)>(config, problem); };
  if (problem.multiple_of(16)) return launch(device::Word<16>::type{});
  if (problem.multiple_of(8)) return launch(device::Word<8>::type{});
  if (problem.multiple_of(4)) return launch(device::Word<4>::type{});
  if (problem.multiple_of(2)) return launch(device::Word<2>::type{});
  return launch(device::Word<1>::type{});
}

}  // namespace fictl::elementwise
