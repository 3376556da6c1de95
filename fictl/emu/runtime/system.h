// The little that is needed of the operating system. Why not <mutex> and <chrono>: each unit that
// includes them takes half a second longer to compile, and users compile the runtime.
#pragma once

#include <pthread.h>
#include <time.h>

#include <cstdint>

namespace fictl_emu {

class Mutex {
 public:
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

class Lock {
 public:
  explicit Lock(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

// Time of a clock that is never set.
inline int64_t now_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

// Time that this thread has run: other work on the machine does not count.
inline int64_t own_ms() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

inline void sleep_ms(int64_t ms) {
  const timespec length = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&length, nullptr);
}

}  // namespace fictl_emu
