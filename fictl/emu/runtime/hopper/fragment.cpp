#include "fragment.h"

#include <algorithm>
#include <cstring>

#include "report.h"
#include "scheduler.h"

namespace fictl_emu {

using ptx::Accumulator;
using ptx::Wgmma;

namespace {

constexpr uint32_t kPoisoned = 0xffffffff;  // NaN, or two of them

std::pair<const char*, const char*> range(uint32_t* const* places, int count) {
  const auto [low, high] = std::minmax_element(places, places + count);
  return {reinterpret_cast<const char*>(*low), reinterpret_cast<const char*>(*high)};
}

}  // namespace

void stop_changed(const Thread& thread, const Warpgroup& group, const char* what) {
  Report report("wgmma-register", &thread);
  report.site(group.last_product);
  report.text("what",
              std::string(what) + " of a wgmma has changed while the product was under way");
  report.text("cause",
              "until wgmma.wait_group the product owns its registers: touch them after the wait, "
              "and have them in variables that live until then, not used for the next product");
  report.file();
  stop_kernel();
}

bool Fragment::is_of(const Wgmma& first) const {
  return first.accumulator == kind && first.columns == columns &&
         memcmp(first.accumulators, places_.data(), registers() * sizeof(void*)) == 0;
}

bool Fragment::overlaps(const Wgmma& first) const {
  const int count = first.accumulator == Accumulator::kF16 ? first.columns / 4 : first.columns / 2;
  const auto mine = range(places_.data(), registers());
  const auto theirs = range(reinterpret_cast<uint32_t* const*>(first.accumulators), count);
  return mine.first <= theirs.second && theirs.first <= mine.second;
}

// Thread t has rows t / 32 * 16 + t % 32 / 4 and the one 8 below; of each eight columns 2 (t % 4)
// and the next: in four registers, or in two of two halves.
template <class Visit>
void Fragment::each_register(Visit visit) {
  const bool in_halves = kind == Accumulator::kF16;
  const int per_eight = in_halves ? 2 : 4;
  uint32_t* const* place = places_.data();
  for (uint32_t t = 0; t < Warpgroup::kThreads; ++t) {
    const uint32_t row = t / 32 * 16 + t % 32 / 4;
    for (int r = 0; r < registers(); ++r) {
      const int e = r % per_eight, below = e / (per_eight / 2) * 8;
      const int column = r / per_eight * 8 + t % 4 * 2 + (in_halves ? 0 : e % 2);
      visit(**place++, &values[(row + below) * columns + column]);
    }
  }
}

void Fragment::read(uint32_t in_register, uint32_t* to) const {
  if (kind != Accumulator::kF16) {
    *to = in_register;
    return;
  }
  for (int i = 0; i < 2; ++i) {
    const auto half = static_cast<uint16_t>(in_register >> 16 * i);
    to[i] = ptx::bits<uint32_t>(ptx::half_to_float(half));
  }
}

uint32_t Fragment::packed(const uint32_t* from) const {
  if (kind != Accumulator::kF16) return *from;
  return ptx::float_to_half(ptx::bits<float>(from[0])) |
         uint32_t{ptx::float_to_half(ptx::bits<float>(from[1]))} << 16;
}

Fragment::Fragment(const Block& block, const Warpgroup& group)
    : kind(wgmma_of(group, 0).accumulator),
      columns(wgmma_of(group, 0).columns),
      values(64 * columns),
      block_(block) {
  for (uint32_t i = 0; i < Warpgroup::kThreads; ++i) {
    void* const* given = wgmma_of(group, i).accumulators;
    for (int r = 0; r < registers(); ++r) places_.push_back(static_cast<uint32_t*>(given[r]));
  }
  each_register([this](uint32_t place, uint32_t* to) { read(place, to); });
}

void Fragment::poison() {
  if (!is_poisoned) each_register([](uint32_t& place, uint32_t*) { place = kPoisoned; });
  is_poisoned = true;
}

void Fragment::write_back(const Warpgroup& group) {
  for (size_t i = 0; is_poisoned && i < places_.size(); ++i) {
    if (*places_[i] == kPoisoned) continue;
    stop_changed(block_.threads[group.first + i / registers()], group, "an accumulator");
  }
  each_register([this](uint32_t& place, const uint32_t* from) { place = packed(from); });
}

}  // namespace fictl_emu
