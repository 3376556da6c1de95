#include "clock.h"

#include <algorithm>

namespace fictl_emu::check {

void Clock::learn(uint32_t block, uint32_t thread, Epoch until, Knows who) {
  const uint64_t key = key_of(block, thread, who);
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key,
                                   [](const Entry& entry, uint64_t k) { return entry.key < k; });
  if (at == entries_.end() || at->key != key) {
    entries_.insert(at, {key, until});
  } else {
    at->until = std::max(at->until, until);
  }
}

Epoch Clock::until(uint64_t key) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key,
                                   [](const Entry& entry, uint64_t k) { return entry.key < k; });
  return at == entries_.end() || at->key != key ? 0 : at->until;
}

bool Clock::knows(uint32_t block, uint32_t thread, Epoch epoch, Knows who) const {
  return until(key_of(block, thread, who)) > epoch ||
         until(key_of(block, kAllThreads, who)) > epoch;
}

Clock Clock::as(Knows who) const {
  Clock moved = only(Knows::kThreads);
  for (Entry& entry : moved.entries_) entry.key |= key_of(0, 0, who);
  return moved;
}

Clock Clock::only(Knows who) const {
  Clock some;
  for (const Entry& entry : entries_) {
    if (entry.key >> kKindBit == static_cast<uint64_t>(who)) some.entries_.push_back(entry);
  }
  return some;
}

bool Clock::mentions(uint32_t block) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key_of(block, 0),
                                   [](const Entry& entry, uint64_t k) { return entry.key < k; });
  return at != entries_.end() && at->key <= key_of(block, kAllThreads);
}

bool Clock::includes(const Clock& other) const {
  return std::all_of(other.entries_.begin(), other.entries_.end(),
                     [this](const Entry& entry) { return until(entry.key) >= entry.until; });
}

void Clock::join(const Clock& other) {
  std::vector<Entry> all;
  all.reserve(entries_.size() + other.entries_.size());
  auto a = entries_.begin();
  auto b = other.entries_.begin();
  while (a != entries_.end() && b != other.entries_.end()) {
    if (a->key == b->key) {
      all.push_back({a->key, std::max(a->until, b->until)});
      ++a, ++b;
    } else {
      all.push_back(a->key < b->key ? *a++ : *b++);
    }
  }
  all.insert(all.end(), a, entries_.end());
  all.insert(all.end(), b, other.entries_.end());
  entries_.swap(all);
}

SharedClock joined(const SharedClock& a, const SharedClock& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr || b->includes(*a)) return b;
  if (a->includes(*b)) return a;
  auto both = std::make_shared<Clock>(*a);
  both->join(*b);
  return both;
}

}  // namespace fictl_emu::check
