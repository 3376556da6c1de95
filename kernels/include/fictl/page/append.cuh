// append: copies the keys and values of new tokens, or the two parts of MLA's latent keys, to their
// slots of a paged cache.
//
// Traffic: every byte is read once and written once. Nothing is computed, so elements are copied as
// bytes, and the limit is the memory's bandwidth.
//
// Tiling: a thread copies the same 16 bytes of a token's two rows, key and value. Where they go
// takes three loads, each of which needs the one before (request, start of its pages, page); the
// data are on their way by then. The threads of a warp share them, as they share a token or few.
// 2048 threads per SM have 64 KiB in flight, which covers loads for twice the latency of HBM.
//
// Both ways are marked to leave L2 first, where nothing is read again. On an H200, 16384 tokens of
// 8 x 128 bf16 take 35.3 us so, and 36.5 us without; 42 us where a thread copies one row's 16
// bytes. Two tokens a thread save 2 % there, and cost a step of decoding a third.
//
// If a pointer, a stride or a row is not a multiple of 16 bytes, a thread copies the largest power
// of two that all are multiples of.
#pragma once

#include <fictl/device/launch.cuh>
#include <fictl/device/paged.cuh>
#include <fictl/device/row_units.cuh>
#include <fictl/device/vec.cuh>

namespace fictl::page {

constexpr int kAppendThreads = 128;

using AppendTokens = device::RowUnits<1>;

// The rows of all tokens and the cache that they go to; sizes and strides in bytes.
struct AppendRows {
  const char* from;
  int64_t token_pitch;
  int64_t head_pitch;
  device::PagedRows<char> to;
  int64_t heads;
  int64_t head_bytes;  // 0 where there are no such rows

  // True if a thread can copy so many bytes at once.
  bool multiple_of(int bytes) const {
    const int64_t all = reinterpret_cast<int64_t>(from) | token_pitch | head_pitch |
                        reinterpret_cast<int64_t>(to.data) | to.page_pitch | to.slot_pitch |
                        to.head_pitch | head_bytes;
    return all % bytes == 0;
  }
};

// The same in words, and what a thread does of them.
template <typename Word>
class AppendPart {
 public:
  explicit AppendPart(const AppendRows& rows)
      : from_(reinterpret_cast<const Word*>(rows.from)),
        token_pitch_(rows.token_pitch / kBytes),
        head_pitch_(rows.head_pitch / kBytes),
        to_{reinterpret_cast<Word*>(rows.to.data), rows.to.page_pitch / kBytes,
            rows.to.slot_pitch / kBytes, rows.to.head_pitch / kBytes},
        units_(static_cast<int>(rows.heads * rows.head_bytes / kBytes)),
        head_words_(units_ == 0 ? 1 : static_cast<int>(rows.head_bytes / kBytes)) {}

  __host__ __device__ int units() const { return units_; }

  __device__ Word load(int64_t token, int unit) const {
    if (unit >= units_) return {};
    const auto [head, word] = head_words_.divide(unit);
    return __ldcs(from_ + token * token_pitch_ + head * head_pitch_ + word);
  }

  __device__ void store(device::PageSlot at, int unit, Word held) const {
    if (unit >= units_) return;
    const auto [head, word] = head_words_.divide(unit);
    __stcs(to_.row(at, head) + word, held);
  }

 private:
  static constexpr int kBytes = sizeof(Word);

  const Word* from_;
  int64_t token_pitch_;
  int64_t head_pitch_;
  device::PagedRows<Word> to_;
  int units_;
  device::Divisor head_words_;
};

// A token whose request is negative is padding.
template <typename Word>
__global__ void __launch_bounds__(kAppendThreads)
    AppendKernel(AppendPart<Word> first, AppendPart<Word> second, device::PageTable table,
                 device::Indices requests, device::Indices positions, AppendTokens tokens) {
  const AppendTokens::Unit at = tokens.mine(0);
  if (!at.exists) return;
  device::pdl_wait();
  device::pdl_trigger();
  const Word a = first.load(at.row, at.unit);
  const Word b = second.load(at.row, at.unit);
  const int request = requests[at.row];
  if (request < 0) return;
  const device::PageSlot slot = table.find(request, positions[at.row]);
  first.store(slot, at.unit, a);
  second.store(slot, at.unit, b);
}

template <typename Word>
cudaError_t LaunchAppend(device::LaunchConfig config, const AppendRows& first,
                         const AppendRows& second, const device::PageTable& table,
                         device::Indices requests, device::Indices positions, int64_t tokens) {
  const AppendPart<Word> a(first);
  const AppendPart<Word> b(second);
  const int units = a.units() > b.units() ? a.units() : b.units();
  if (units == 0) return cudaSuccess;
  const AppendTokens rows(tokens, units, kAppendThreads);
  config.grid = rows.grid();
  config.block = rows.block();
  return device::launch<AppendKernel<Word>>(config, a, b, table, requests, positions, rows);
}

// requests, positions: [tokens], where each token goes. `pdl`: use programmatic dependent launch
// where the GPU supports it.
inline cudaError_t Append(const AppendRows& first, const AppendRows& second,
                          const device::PageTable& table, device::Indices requests,
                          device::Indices positions, int64_t tokens, cudaStream_t stream = nullptr,
                          bool pdl = false) {
  if (tokens == 0) return cudaSuccess;
  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  const auto launch = [&](auto word) {
    return LaunchAppend<decltype(word)>(config, first, second, table, requests, positions, tokens);
  };
  const auto fits = [&](int bytes) {
    return first.multiple_of(bytes) && second.multiple_of(bytes);
  };
  if (fits(16)) return launch(device::Word<16>::type{});
  if (fits(8)) return launch(device::Word<8>::type{});
  if (fits(4)) return launch(device::Word<4>::type{});
  if (fits(2)) return launch(device::Word<2>::type{});
  return launch(device::Word<1>::type{});
}

}  // namespace fictl::page
