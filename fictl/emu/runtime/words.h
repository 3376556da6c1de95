// The words of reports for accesses, places in memory and threads.
#pragma once

#include <cstring>
#include <string>

#include "access.h"
#include "launch_record.h"
#include "report.h"

namespace fictl_emu::check {

std::string count(size_t n, const std::string& thing);
std::string verb(const Access& access);
std::string verb(const Stamp& stamp, bool wrote);
// "a read of 4 bytes"
std::string sentence(const Access& access);

// The memory that an address belongs to, or the nearest that it could belong to.
struct Location {
  const char* space = "";  // the report's word for it: shared, tensor, variable
  std::string name;
  int64_t byte = 0;
  size_t bytes = 0;  // of the whole; 0: unknown
  std::string element;

  std::string text() const {
    return std::string(strcmp(space, "tensor") == 0 ? "tensor '" + name + "'" : name);
  }
  std::string place() const {
    if (byte == 0 && bytes == 0) return text();
    if (!element.empty()) return "element " + element + " of " + text();
    return "byte " + std::to_string(byte) + " of " + text();
  }
};

std::string in_words(const SharedPart& part);
// The smallest part that a kernel has said there is.
const SharedPart* part_that_holds(const SharedMemory& shared, size_t offset);
Location locate(const Thread& thread, const char* address, size_t bytes);
void add(Report& report, const Access& access, const Location& location);

// The thread of a stamp, whose block may be over.
class Former {
 public:
  explicit Former(const Stamp& stamp) {
    const auto& [grid, block] = record().block_of(stamp.block);
    const FictlEmuLaunch& asked = grid->asked;
    const uint32_t number = stamp.thread;
    block_.index = {static_cast<uint32_t>(block % asked.grid.x),
                    static_cast<uint32_t>(block / asked.grid.x % asked.grid.y),
                    static_cast<uint32_t>(block / asked.grid.x / asked.grid.y)};
    thread_.index = {number % asked.block.x, number / asked.block.x % asked.block.y,
                     number / asked.block.x / asked.block.y};
    block_.grid = const_cast<Grid*>(grid);
    thread_.block = &block_;
    thread_.linear = number;
    thread_.lane = number % 32;
    thread_.warp = number / 32;
  }
  const Thread* thread() const { return &thread_; }

 private:
  Block block_;
  Thread thread_;
};

}  // namespace fictl_emu::check
