#include "registers_in_use.h"

#include <algorithm>

#include "defects_hopper.h"

namespace fictl_emu::check {

namespace {

constexpr size_t kRegister = 4;

RegisterRange range_over(void* const* places, int count, bool is_a) {
  std::vector<const char*> all;
  for (int i = 0; i < count; ++i) all.push_back(static_cast<const char*>(places[i]));
  std::sort(all.begin(), all.end());
  RegisterRange range{all.front(), all.back() + kRegister, {}, is_a, 0};
  const bool side_by_side = range.end - range.begin == static_cast<int64_t>(count * kRegister);
  if (!side_by_side) range.exact = std::move(all);
  return range;
}

}  // namespace

bool RegisterRange::holds(const char* address, size_t bytes) const {
  if (address >= end || address + bytes <= begin) return false;
  if (exact.empty()) return true;
  const auto next = std::upper_bound(exact.begin(), exact.end(), address - kRegister);
  return next != exact.end() && *next < address + bytes;
}

void RegistersInUse::fence() {
  is_fenced_ = true;
  for (RegisterRange& range : ranges_) range.touched = nullptr;
}

void RegistersInUse::wait(uint32_t pending) {
  for (RegisterRange& range : ranges_) {
    if (range.group + pending < committed_) range.is_open = false;
  }
}

RegisterRange& RegistersInUse::range_of(RegisterRange range) {
  const auto same = [&](const RegisterRange& known) {
    return known.begin == range.begin && known.end == range.end && known.is_a == range.is_a &&
           known.exact == range.exact;
  };
  const auto known = std::find_if(ranges_.begin(), ranges_.end(), same);
  if (known != ranges_.end()) return *known;
  // Other uses of the same stack are over.
  const auto is_over = [&](const RegisterRange& old) {
    return !old.is_open && old.begin < range.end && range.begin < old.end;
  };
  ranges_.erase(std::remove_if(ranges_.begin(), ranges_.end(), is_over), ranges_.end());
  ranges_.push_back(std::move(range));
  return ranges_.back();
}

void RegistersInUse::take(void* const* places, int count, bool is_a, const void* pc) {
  RegisterRange& range = range_of(range_over(places, count, is_a));
  if (!is_fenced_ || range.touched != nullptr) report_no_product_fence(range, pc);
  range.touched = nullptr;
  range.group = committed_;
  range.is_open = true;
  range.product = pc;
}

void RegistersInUse::issue(const ptx::Wgmma& wgmma, const void* pc) {
  const bool in_halves = wgmma.accumulator == ptx::Accumulator::kF16;
  take(wgmma.accumulators, wgmma.columns / (in_halves ? 4 : 2), false, pc);
  if (wgmma.a_in_registers) {
    void* places[4];
    int count = 0;
    for (const ptx::Source& source : wgmma.a_registers) {
      if (source.address != nullptr) places[count++] = const_cast<uint32_t*>(source.address);
    }
    if (count != 0) take(places, count, true, pc);
  }
  is_fenced_ = true;  // it is said once
}

void RegistersInUse::touch(const Access& access) {
  for (RegisterRange& range : ranges_) {
    // A product reads the registers of A, as others may.
    if ((range.is_a && !access.writes()) || !range.holds(access.address, access.bytes)) continue;
    if (range.is_open) {
      report_register(access, range, range.group < committed_);
    } else if (range.touched == nullptr) {
      range.touched = access.pc;
    }
  }
}

}  // namespace fictl_emu::check
