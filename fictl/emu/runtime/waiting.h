// Tells two uses of volatile memory apart: a flag that threads wait for, and data of lanes that are
// assumed to run in lockstep.
//
// Both look alike: one thread writes, another reads, and nothing orders the two. But a thread that
// waits for a flag reads it again until it changes. So a read that is not ordered after a write
// gets the value from before the write, as may happen on a GPU. Memory that the thread then reads
// again is a flag. Accesses to other memory are reported when the launch has ended.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "access.h"
#include "report.h"

namespace fictl_emu::check {

class Waiting {
 public:
  void launch_begins();
  void launch_ends();

  // Every access, before it is examined.
  void note(const Access& access, const Thread& thread) {
    if (access.is_volatile() || !loops_.empty()) keep(access, thread);
  }
  // A volatile read that nothing orders after a volatile write of another thread.
  void read_too_early(const Access& access, const Thread& thread);
  // Undoes what read_too_early() has done to the memory, once it has been read.
  void settle() {
    if (bytes_ != 0) restore();
  }

  // True if these accesses are not suspected yet.
  bool is_news(const Access& access, const void* other);
  void suspect(const Access& access, Report report);

 private:
  static constexpr size_t kWidest = 16;

  struct Word {
    char content[kWidest];
  };
  // The latest contents that differ, and their width.
  struct History {
    size_t bytes;
    Word latest, before;
  };
  struct Read {
    const void* pc;
    const char* address;
    bool is_strong;
    bool operator==(const Read& other) const { return pc == other.pc && address == other.address; }
  };
  struct Suspect {
    const char* address;
    Report report;
  };

  void keep(const Access& access, const Thread& thread);
  void restore();

  std::unordered_map<const char*, History> written_;
  std::unordered_map<const Thread*, std::vector<Read>> loops_;  // reads since it last wrote
  std::map<std::tuple<const Thread*, const void*, const char*>, int> delayed_;
  std::set<const char*> flags_;
  std::set<std::tuple<const void*, const void*, const char*>> told_;
  std::vector<Suspect> suspects_;

  char* address_ = nullptr;  // of memory that has its old content for one read
  size_t bytes_ = 0;
  Word content_;
};

}  // namespace fictl_emu::check
