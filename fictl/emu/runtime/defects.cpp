#include "defects.h"

#include <dlfcn.h>

#include <cstring>

#include "launch_record.h"
#include "report.h"

namespace fictl_emu::check {

namespace {

std::string count(size_t n, const std::string& thing) {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

std::string verb(const Access& access) {
  switch (access.way) {
    case Way::kRead:
      return access.strong ? "atomic or volatile read" : "read";
    case Way::kWrite:
      return access.strong ? "atomic or volatile write" : "write";
    case Way::kUpdate:
      return "atomic update";
    case Way::kCopyIssued:
    case Way::kCopyLanded:
      return "cp.async";
  }
  return "";
}

std::string verb(const Stamp& stamp, bool wrote) {
  if (stamp.in_flight) return "cp.async";
  return std::string(stamp.strong ? "atomic or volatile " : "") + (wrote ? "write" : "read");
}

// What an address belongs to, or the nearest that it could have belonged to.
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

Location locate_shared(const SharedMemory& shared, const char* address) {
  const auto offset = address - shared.base;
  Location found{"shared", "dynamic shared memory", offset, shared.dynamic_bytes, ""};
  if (offset < int64_t{SharedMemory::kStatic}) return found;
  for (const SharedVariable& variable : shared.variables) {
    if (offset < int64_t{variable.offset} - int64_t{SharedMemory::kGap} / 2) break;
    found = {"shared", std::string("__shared__ ") + variable.name, offset - variable.offset,
             variable.bytes, ""};
  }
  return found;
}

// Names of variables are known where the module exports them.
Location locate_variable(const char* address) {
  Dl_info info;
  const bool named = dladdr(address, &info) != 0 && info.dli_sname != nullptr;
  if (!named) return {"variable", "a variable of the module", 0, 0, ""};
  return {"variable", info.dli_sname, address - static_cast<const char*>(info.dli_saddr), 0, ""};
}

Location locate(const Thread& thread, const char* address, size_t bytes) {
  const SharedMemory& shared = thread.block->shared;
  if (shared.contains(address)) return locate_shared(shared, address);
  if (record().host.contains(address)) return locate_variable(address);
  const Tensor* tensor = record().tensors.nearest(address, bytes);
  if (tensor == nullptr) return {};
  return {"tensor", tensor->name(), address - tensor->begin(), tensor->bytes(),
          tensor->element(address)};
}

void add(Report& report, const Access& access, const Location& location) {
  report.text("access", verb(access)).number("bytes", access.bytes);
  if (*location.space == 0) return;
  report.text(location.space, location.name);
  report.number("byte", location.byte).number("size", location.bytes);
  if (!location.element.empty()) report.text("element", location.element);
}

std::string sentence(const Access& access) {
  const std::string what = verb(access);
  return (what[0] == 'a' ? "an " : "a ") + what + " of " + count(access.bytes, "byte");
}

[[noreturn]] void stop(Report& report) {
  report.file();
  stop_kernel();
}

struct Explanation {
  std::string what;
  std::string cause;
};

Explanation outside_of_tensor(const Access& access, const Tensor& tensor) {
  const int64_t byte = access.address - tensor.begin();
  const auto bytes = static_cast<int64_t>(tensor.bytes());
  const std::string name = "tensor '" + tensor.name() + "'";
  const std::string size = ", which has " + count(tensor.bytes(), "byte");
  const size_t values = access.bytes / tensor.itemsize();
  if (byte < 0) {
    return {", " + count(-byte, "byte") + " before " + name,
            "a negative index, or an unsigned one that went below zero"};
  }
  if (byte + static_cast<int64_t>(access.bytes) <= bytes) {
    return {" at byte " + std::to_string(byte) + " of " + name + ", between its rows of " +
                count(tensor.row_bytes(), "byte"),
            "the rows of this view do not follow one another: index with its strides, and stop at "
            "the end of a row"};
  }
  const std::string what = " at byte " + std::to_string(byte) + " of " + name + size;
  if (byte < bytes && values > 1) {
    return {what, "a vector access of " + std::to_string(values) +
                      " elements over the end of the tensor: guard it by i + " +
                      std::to_string(values) + " <= n, and do the rest one by one"};
  }
  if (byte == bytes) {
    return {what, "an index one past the end: a guard by i <= n instead of i < n, or none at all"};
  }
  return {what,
          "an index that no guard stops: the grid is larger than the tensor, or a stride is "
          "not the tensor's"};
}

Explanation outside_of_shared(const Location& location) {
  const std::string what =
      " at " + location.place() + ", which has " + count(location.bytes, "byte");
  if (location.name.rfind("__shared__", 0) == 0) {
    return {what, "an index beyond the length that the variable is declared with"};
  }
  return {what, "the launch asks for fewer bytes of dynamic shared memory than the kernel uses"};
}

Explanation outside(const Access& access, const Location& location) {
  if (strcmp(location.space, "shared") == 0) return outside_of_shared(location);
  constexpr int64_t kFar = 64 << 20;
  const int64_t beyond = location.byte - static_cast<int64_t>(location.bytes);
  if (location.byte < -kFar || beyond > kFar) {
    return {" of memory that is no tensor, no variable and not on the stack",
            "a pointer to host memory, or one that was freed or computed wrongly"};
  }
  return outside_of_tensor(access, *record().tensors.nearest(access.address, access.bytes));
}

std::string cause_in_flight(const Access& access) {
  if (access.reads()) {
    return "cp.async.wait_group (or wait_all) is missing before this read, or it leaves the group "
           "of this copy pending";
  }
  return "the memory is written while a cp.async to it is under way: wait for the copy first";
}

std::string cause_between_blocks(const Access& access, const Stamp& rival, bool rival_wrote) {
  if (record().blocks_without_fence.count(rival.block) != 0) {
    return "a flag or a counter was written without __threadfence() before it: what its writer "
           "wrote before need not be visible yet";
  }
  if (access.writes() && rival_wrote) {
    return "two blocks write the same memory: each must own its elements, or use atomics";
  }
  return "nothing orders blocks but atomics with __threadfence(), grid.sync() and the end of the "
         "kernel";
}

std::string cause_within_warp() {
  return "lanes of one warp run independently, and shuffles and votes do not order memory: "
         "__syncwarp() is missing between the two";
}

// Whether this is the first write: who has read before it, has read too early.
bool is_first_write(const Access& access, const Block& block) {
  if (!block.shared.contains(access.address)) return false;
  const size_t offset = access.address - block.shared.base;
  return record().of(block).shared.first_unwritten(offset, access.bytes) < access.bytes;
}

std::string cause_within_block(const Access& access, const Block& block, bool rival_wrote) {
  if (access.way == Way::kCopyIssued) {
    return "the copy refills memory that another thread may still use: __syncthreads() is missing "
           "before this cp.async";
  }
  if (!access.writes() || (!rival_wrote && is_first_write(access, block))) {
    return "the writes of this interval are not separated from the reads by __syncthreads()";
  }
  if (!rival_wrote) {
    return "the memory is used again before all have read it: __syncthreads() is missing between "
           "the reads and this write";
  }
  return "two threads write the same memory with no __syncthreads() between them";
}

std::string cause_of_race(const Access& access, const Thread& thread, const Stamp& rival,
                          bool rival_wrote) {
  if (rival.in_flight) return cause_in_flight(access);
  if (access.strong != (rival.strong != 0)) {
    return "one of the two is atomic, the other is not: atomics are safe among themselves only";
  }
  if (rival.block != record().of(*thread.block).order.serial()) {
    return cause_between_blocks(access, rival, rival_wrote);
  }
  const bool same_warp = rival.thread / 32 == thread.warp;
  if (same_warp && access.way != Way::kCopyIssued) return cause_within_warp();
  return cause_within_block(access, *thread.block, rival_wrote);
}

// The thread of a stamp, whose block may be over.
class Former {
 public:
  explicit Former(const Stamp& stamp) {
    const FictlEmuLaunch& asked = *team->launch->asked;
    const uint64_t block = record().linear_of(stamp.block);
    const uint32_t number = stamp.thread;
    block_.index = {static_cast<uint32_t>(block % asked.grid.x),
                    static_cast<uint32_t>(block / asked.grid.x % asked.grid.y),
                    static_cast<uint32_t>(block / asked.grid.x / asked.grid.y)};
    thread_.index = {number % asked.block.x, number / asked.block.x % asked.block.y,
                     number / asked.block.x / asked.block.y};
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

}  // namespace

void stop_out_of_bounds(const Access& access) {
  const Location location = locate(*current(), access.address, access.bytes);
  const Explanation explanation = outside(access, location);
  Report report("out-of-bounds", current());
  report.place(access.pc);
  report.text("what", sentence(access) + explanation.what);
  report.text("cause", explanation.cause);
  add(report, access, location);
  stop(report);
}

void stop_null(const Access& access) {
  const auto offset = reinterpret_cast<uintptr_t>(access.address);
  Report report("null-pointer", current());
  report.place(access.pc);
  report.text("what", sentence(access) + " at a null pointer" +
                          (offset == 0 ? "" : " plus " + count(offset, "byte")));
  report.text("cause", "an optional tensor that was not passed, or a pointer that was never set");
  add(report, access, {});
  stop(report);
}

void stop_misaligned(const char* address, const char* type, size_t alignment, const void* pc) {
  const Location location = locate(*current(), address, alignment);
  Report report("misaligned", current());
  report.place(pc);
  report.text("what", std::string("an access of type ") + type + " at " +
                          (*location.space == 0 ? "an address" : location.place()) +
                          ", which is not aligned to " + count(alignment, "byte"));
  report.text("cause",
              "a vector access needs the base pointer, the index and every stride to be multiples "
              "of its width: take the scalar path where one is not");
  add(report, {address, alignment, Way::kRead, false, pc}, location);
  stop(report);
}

void stop_bad_index(int64_t index, const char* type, const void* pc) {
  Report report("out-of-bounds", current());
  report.place(pc);
  report.text("what", "index " + std::to_string(index) + " of an array of type " + type);
  report.text("cause", "an index beyond the length that the array is declared with");
  stop(report);
}

void report_read_only(const Access& access, const Tensor& tensor) {
  if (!record().is_news(access.pc, tensor.begin())) return;
  const Location location = locate(*current(), access.address, access.bytes);
  Report report("read-only", current());
  report.place(access.pc);
  report.text("what", sentence(access) + " at " + location.place() + ", which is an input");
  report.text("cause",
              "the op does not say that it changes this tensor (mutates=), or the kernel "
              "takes the input for the output");
  add(report, access, location);
  report.file();
}

void report_uninitialised(const Access& access, size_t unwritten) {
  if (!record().is_news(access.pc, nullptr)) return;
  const Location location = locate(*current(), access.address + unwritten, 1);
  Report report("uninitialised", current());
  report.place(access.pc);
  report.text("what", sentence(access) + " of which " + location.place() +
                          " has never been written in this block");
  report.text("cause",
              "the store is missing, or its guard leaves out elements that are read: "
              "padding, or the part beyond the last element");
  add(report, access, location);
  report.file();
}

void report_race(const Access& access, const Thread& thread, const Stamp& rival, bool rival_wrote) {
  if (!record().is_news(access.pc, rival.place())) return;
  const Location location = locate(thread, access.address, access.bytes);
  const char* conflict = !access.writes() ? "read after write"
                         : rival_wrote    ? "write after write"
                                          : "write after read";
  const Former former(rival);
  Report report("race", &thread);
  report.place(access.pc);
  report.text("what", std::string(conflict) + " at " + location.place() +
                          " with nothing that orders the two");
  report.text("cause", cause_of_race(access, thread, rival, rival_wrote));
  report.text("conflict", conflict);
  add(report, access, location);
  report.other(verb(rival, rival_wrote), former.thread(), rival.place());
  report.file();
}

}  // namespace fictl_emu::check
