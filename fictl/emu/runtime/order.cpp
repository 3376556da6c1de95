#include "order.h"

#include <fictl_emu/abi.h>

#include <algorithm>
#include <utility>

namespace fictl_emu::check {

void Knowledge::join(const Knowledge& other) {
  seen = joined(seen, other.seen);
  for (int to = 0; to < 2; ++to) released[to] = joined(released[to], other.released[to]);
}

void Order::begin(uint32_t serial, size_t threads) {
  serial_ = serial;
  start_ = latest_ = 1;
  now_.assign(threads, start_);
  rows_.assign((threads + 31) / 32 * 32 * 32, 0);
  any_clocks_ = false;
  block_ = {};
  own_.assign(threads, {});
  for (Knowledge& arrived : arrived_) arrived = {};
  for (Comers& comers : comers_) comers = {};
  cluster_epoch_ = 0;
  all_tell_ = true;
  tellers_.clear();
  told_ = nullptr;
}

bool Order::follows_by_clock(uint32_t thread, const Stamp& access) const {
  for (const Clock* clock : {own_[thread].seen.get(), block_.seen.get()}) {
    const bool knows = clock != nullptr && clock->knows(access.block, access.thread, access.epoch);
    if (knows) return true;
  }
  return false;
}

bool Order::knows(uint32_t thread, const Stamp& access, Knows who) const {
  for (const Clock* clock : {own_[thread].seen.get(), block_.seen.get()}) {
    if (clock != nullptr && clock->knows(access.block, access.thread, access.epoch, who)) {
      return true;
    }
  }
  return false;
}

bool Order::has_heard_of(uint32_t thread, uint32_t block) const {
  for (const Clock* clock : {own_[thread].seen.get(), block_.seen.get()}) {
    if (clock != nullptr && clock->mentions(block)) return true;
  }
  return false;
}

void Order::advance(uint32_t thread) { latest_ = std::max(latest_, ++now_[thread]); }

void Order::block_meets() {
  if (any_clocks_) {
    for (Knowledge& own : own_) {
      block_.join(own);
      own = {};
    }
  }
  for (Comers& comers : comers_) {
    comers.now.clear();
    comers.last.clear();
  }
  start_ = ++latest_;
  std::fill(now_.begin(), now_.end(), start_);
}

void Order::warp_meets(uint32_t warp, uint32_t lanes) {
  Epoch joint[32] = {};
  Knowledge all;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const uint32_t lane = __builtin_ctz(left), thread = warp * 32 + lane;
    for (int i = 0; i < 32; ++i) joint[i] = std::max(joint[i], rows_[thread * 32 + i]);
    advance(thread);
    joint[lane] = now_[thread];
    if (any_clocks_) all.join(own_[thread]);
  }
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const uint32_t thread = warp * 32 + __builtin_ctz(left);
    std::copy(joint, joint + 32, &rows_[thread * 32]);
    if (any_clocks_) own_[thread] = all;
  }
}

SharedClock Order::snapshot(const uint32_t* threads, size_t count) {
  SharedClock seen = block_.seen;
  scratch_.assign(rows_.size() / 32, 0);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t thread = threads[i], first = thread / 32 * 32;
    seen = joined(seen, own_[thread].seen);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      scratch_[first + lane] = std::max(scratch_[first + lane], rows_[thread * 32 + lane]);
    }
    advance(thread);
    scratch_[thread] = now_[thread];
  }
  auto clock = seen == nullptr ? std::make_shared<Clock>() : std::make_shared<Clock>(*seen);
  for (uint32_t thread = 0; thread < scratch_.size(); ++thread) {
    if (scratch_[thread] > start_) clock->learn(serial_, thread, scratch_[thread]);
  }
  clock->learn(serial_, Clock::kAllThreads, start_);
  return clock;
}

bool Order::comes(uint32_t thread, int barrier) {
  Comers& comers = comers_[barrier];
  comers.now.push_back({thread, now_[thread]});
  const auto is_own = [=](const Arrival& last) { return last.thread == thread; };
  if (std::any_of(comers.last.begin(), comers.last.end(), is_own)) return true;
  return std::all_of(comers.last.begin(), comers.last.end(), [&](const Arrival& last) {
    Stamp stamp{};
    stamp.thread = last.thread;
    stamp.block = serial_;
    stamp.epoch = last.epoch;
    return follows(thread, stamp);
  });
}

void Order::arrives(uint32_t thread, int barrier) { arrived_[barrier].join(told(thread)); }

Knowledge Order::told(uint32_t thread) {
  Knowledge all = own_[thread];
  all.seen = snapshot(&thread, 1);
  return all;
}

Knowledge Order::told_of_products(uint32_t thread) const {
  Clock known;
  for (const SharedClock& seen : {block_.seen, own_[thread].seen}) {
    if (seen != nullptr) known.join(seen->only(Knows::kProducts));
  }
  Knowledge all;
  if (!known.empty()) all.seen = std::make_shared<const Clock>(std::move(known));
  return all;
}

void Order::learn(uint32_t thread, const Knowledge& news) {
  own_[thread].join(news);
  any_clocks_ = true;
}

void Order::some_meet(int barrier, const std::vector<uint32_t>& waiting) {
  Knowledge all = arrived_[barrier];
  for (const uint32_t thread : waiting) all.join(own_[thread]);
  all.seen = joined(all.seen, snapshot(waiting.data(), waiting.size()));
  for (const uint32_t thread : waiting) own_[thread] = all;
  arrived_[barrier] = {};
  comers_[barrier].meet();
  any_clocks_ = true;
}

// Why a common epoch: the clock then has one entry for the threads of a block that are alike.
void Order::cluster_arrives(uint32_t thread, bool release) {
  if (cluster_epoch_ == 0) cluster_epoch_ = latest_ + 1;
  if (!release) {
    all_tell_ = false;
    return;
  }
  now_[thread] = std::max(now_[thread] + 1, cluster_epoch_);
  latest_ = std::max(latest_, now_[thread]);
  tellers_.push_back({thread, now_[thread]});
  told_ = joined(joined(told_, block_.seen), own_[thread].seen);
}

SharedClock Order::cluster_meets() {
  auto told = told_ == nullptr ? std::make_shared<Clock>() : std::make_shared<Clock>(*told_);
  if (all_tell_ && cluster_epoch_ != 0) told->learn(serial_, Clock::kAllThreads, cluster_epoch_);
  for (const Arrival& teller : tellers_) {
    if (all_tell_ && teller.epoch == cluster_epoch_) continue;
    told->learn(serial_, teller.thread, teller.epoch);
  }
  cluster_epoch_ = 0;
  all_tell_ = true;
  tellers_.clear();
  told_ = nullptr;
  return told;
}

void Order::learn(uint32_t thread, const SharedClock& clock) {
  if (clock == nullptr) return;
  own_[thread].seen = joined(own_[thread].seen, clock);
  any_clocks_ = true;
}

SharedClock Order::at_end() const {
  constexpr Epoch kForEver = ~Epoch{0};
  auto all = std::make_shared<Clock>();
  for (const Knows who : {Knows::kThreads, Knows::kSharedProxy, Knows::kGlobalProxy}) {
    all->learn(serial_, Clock::kAllThreads, kForEver, who);
  }
  SharedClock seen = joined(all, block_.seen);
  for (const Knowledge& own : own_) seen = joined(seen, own.seen);
  return seen;
}

void Order::grid_meets(const SharedClock& all) {
  block_.seen = all;
  any_clocks_ = true;
}

void Order::fence(uint32_t thread, int scope) {
  const SharedClock clock = snapshot(&thread, 1);
  own_[thread].released[0] = clock;
  if (scope != FICTL_EMU_BLOCK) own_[thread].released[1] = clock;
  any_clocks_ = true;
}

void Order::cross(uint32_t thread, std::initializer_list<Knows> to) {
  const SharedClock known = snapshot(&thread, 1);
  auto all = std::make_shared<Clock>(*known);
  for (const Knows who : to) all->join(known->as(who));
  own_[thread].seen = all;
  any_clocks_ = true;
}

void Order::products_end(uint32_t warp, Epoch at) {
  auto news = std::make_shared<Clock>();
  news->learn(serial_, warp * 32, at + 1, Knows::kProducts);
  const SharedClock ended = news;
  // Most lanes know the same.
  SharedClock before, after = ended;
  for (uint32_t thread = warp * 32; thread < warp * 32 + 32; ++thread) {
    SharedClock& seen = own_[thread].seen;
    if (seen != before) {
      before = seen;
      after = joined(seen, ended);
    }
    seen = after;
  }
  any_clocks_ = true;
}

Publication Order::publish(uint32_t thread) const {
  return {serial_, released(thread, 0), released(thread, 1)};
}

void Order::acquire(uint32_t thread, const Publication& publication) {
  const bool near = publication.block == serial_;
  const SharedClock& clock = near ? publication.to_block : publication.to_device;
  if (clock == nullptr) return;
  own_[thread].seen = joined(own_[thread].seen, clock);
  any_clocks_ = true;
}

}  // namespace fictl_emu::check
