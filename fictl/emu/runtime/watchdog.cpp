#include "watchdog.h"

#include <unistd.h>

#include <thread>

#include "config.h"
#include "signals.h"
#include "system.h"

namespace fictl_emu {

namespace {

constexpr int64_t kTickMs = 50;
constexpr int64_t kLingerMs = 5000;

class Watchdog {
 public:
  void watch(Launch* launch) {
    const Lock lock(mutex_);
    launch_ = launch;
    begun_ = 0;
    since_ = now_ms();
    // A child of fork() has no thread but the one that called it.
    if (launch == nullptr || awake_in_ == getpid()) return;
    awake_in_ = getpid();
    std::thread([this] { guard(); }).detach();
  }

 private:
  // Ends some time after the last launch.
  void guard() {
    while (guards()) sleep_ms(kTickMs);
  }

  bool guards() {
    const Lock lock(mutex_);
    if (launch_ != nullptr) {
      look();
      return true;
    }
    if (now_ms() - since_ < kLingerMs) return true;
    awake_in_ = 0;
    return false;
  }

  void look() {
    const uint64_t begun = launch_->begun;
    if (begun != begun_) since_ = now_ms();
    begun_ = begun;
    if (config.timeout_ms > 0 && now_ms() - since_ > config.timeout_ms) launch_->overdue = true;
    interrupt_stuck_workers();
  }

  Mutex mutex_;
  Launch* launch_ = nullptr;
  uint64_t begun_ = 0;  // clusters
  int64_t since_ = 0;
  pid_t awake_in_ = 0;
};

// Never destroyed: its thread outlives main().
Watchdog& watchdog() {
  static Watchdog* const only = new Watchdog;
  return *only;
}

}  // namespace

WatchdogScope::WatchdogScope(Launch& launch) { watchdog().watch(&launch); }

WatchdogScope::~WatchdogScope() { watchdog().watch(nullptr); }

}  // namespace fictl_emu
