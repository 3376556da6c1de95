// Defects as JSON lines, which fictl/emu/report.py reads.
#pragma once

#include "state.h"

#include <initializer_list>
#include <string>
#include <utility>

namespace fictl_emu {

// One defect. Every field is a word of fictl/emu/report.py; texts are escaped by the setters.
class Report {
 public:
  // With the kernel, and block and index of `thread`, which may be null.
  Report(const char* kind, const Thread* thread);

  Report& text(const char* name, const std::string& value);
  Report& number(const char* name, int64_t value);
  Report& site(const Site& site);  // where it happened, by file and line
  Report& place(const void* pc);   // or by the address of the code
  // The other side of a conflict.
  Report& other(const std::string& what, const Thread* thread, const void* pc);
  Report& raw(const char* name, const std::string& json);
  Report& kernel(const FictlEmuLaunch& launch);

  // Hands it in; false if one of the same kind at the same place was handed in before.
  bool file();

 private:
  std::string json_;
  std::string identity_;
};

// `{"module": path, "offset": n}`: what addr2line needs to find the line.
std::string place_json(const void* pc);
std::string thread_json(const Thread* thread);
std::string quoted(const std::string& text);
// 0-3,8: ranges of sorted numbers.
std::string ranges(const std::vector<uint32_t>& sorted);

// Ends the running kernel, which has been reported; never returns to it.
[[noreturn]] void stop_kernel();

// Reports what happened at that address of the code, and ends the kernel.
[[noreturn]] void stop(const char* kind, const std::string& what, const char* cause,
                       const void* pc);

}  // namespace fictl_emu
