#include "waiting.h"

#include <algorithm>
#include <cstring>

namespace fictl_emu::check {

namespace {

constexpr size_t kMostSuspects = 200;
constexpr size_t kLongestLoop = 64;
constexpr int kMostDelays = 2;  // as often as it takes to see what a loop does again

}  // namespace

void Waiting::launch_begins() {
  written_.clear();
  loops_.clear();
  delayed_.clear();
  flags_.clear();
  told_.clear();
  suspects_.clear();
  bytes_ = 0;
}

void Waiting::launch_ends() {
  settle();
  for (Suspect& suspect : suspects_) {
    if (flags_.count(suspect.address) == 0) suspect.report.file();
  }
  suspects_.clear();
}

void Waiting::restore() {
  memcpy(address_, content_.content, bytes_);
  bytes_ = 0;
}

// A thread that waits does nothing between two reads, or reads the same again each time.
void Waiting::keep(const Access& access, const Thread& thread) {
  if (access.writes()) {
    loops_.erase(&thread);
    if (!access.is_volatile() || access.bytes > kWidest) return;
    Word now;
    memcpy(now.content, access.address, access.bytes);
    const auto [at, is_new] = written_.try_emplace(access.address, History{access.bytes, now, now});
    History& history = at->second;
    if (is_new || memcmp(history.latest.content, now.content, history.bytes) == 0) return;
    history = {access.bytes, now, history.latest};
    return;
  }
  auto& reads = loops_[&thread];
  if (reads.empty() && !access.is_volatile()) return;
  if (reads.size() == kLongestLoop) reads.clear();
  const Read read{access.pc, access.address, access.strong()};
  const auto last =
      access.is_volatile() ? std::find(reads.rbegin(), reads.rend(), read) : reads.rend();
  if (last != reads.rend()) {
    const auto length = last - reads.rbegin() + 1;  // of the loop, this read among it
    const auto loop = reads.end() - length;
    const bool only_waits =
        std::all_of(loop, reads.end(), [](const Read& each) { return each.is_strong; });
    const bool again =
        reads.end() - reads.begin() >= 2 * length && std::equal(loop, reads.end(), loop - length);
    if (only_waits || again) flags_.insert(access.address);
  }
  reads.push_back(read);
}

void Waiting::read_too_early(const Access& access, const Thread& thread) {
  const auto found = written_.find(access.address);
  if (found == written_.end() || found->second.bytes != access.bytes) return;
  int& times = delayed_[{&thread, access.pc, access.address}];
  if (times == kMostDelays) return;
  ++times;
  const History& history = found->second;
  const bool latest = memcmp(history.latest.content, access.address, access.bytes) != 0;
  const Word& old = latest ? history.latest : history.before;
  address_ = const_cast<char*>(access.address);
  bytes_ = access.bytes;
  memcpy(content_.content, address_, bytes_);
  memcpy(address_, old.content, bytes_);
}

bool Waiting::is_news(const Access& access, const void* other) {
  return told_.size() < kMostSuspects && told_.insert({access.pc, other, access.address}).second;
}

void Waiting::suspect(const Access& access, Report report) {
  suspects_.push_back({access.address, std::move(report)});
}

}  // namespace fictl_emu::check
