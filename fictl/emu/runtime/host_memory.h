// Memory of the process, other than tensors, that kernels may access: variables of modules, the
// stack of the launching thread, which has the arguments, and arguments that were kept.
#pragma once

#include <map>
#include <vector>

#include "shadow.h"
#include "state.h"

namespace fictl_emu::check {

class HostMemory {
 public:
  // Modules may have been loaded, and the launch may come from another thread than the last one.
  void launch_begins(const Launch& launch);
  bool contains(const char* address) { return find(address) != nullptr; }
  // Where accesses to a variable are recorded; null for what no kernel writes.
  Region* variables_at(const char* address);
  void forget_accesses() { regions_.clear(); }

 private:
  struct Range {
    const char* begin;
    const char* end;
    bool variables;
    bool contains(const char* address) const { return begin <= address && address < end; }
  };
  const Range* find(const char* address);
  const Range* find_known(const char* address);
  void look_around();

  bool fresh_ = false;
  std::vector<Range> arguments_;
  std::vector<Range> ranges_;
  Range recent_{};
  std::map<const char*, Region> regions_;  // by the beginning of their range
};

}  // namespace fictl_emu::check
