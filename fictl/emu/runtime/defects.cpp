#include "defects.h"

#include "causes.h"
#include "defects_hopper.h"
#include "hopper/peers.h"
#include "launch_record.h"
#include "report.h"
#include "words.h"

namespace fictl_emu::check {

namespace {

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
  if (was_freed(access.address)) {
    return {" of memory that cudaFree() has taken back", "a use after the end of its life"};
  }
  constexpr int64_t kFar = 64 << 20;
  const int64_t beyond = location.byte - static_cast<int64_t>(location.bytes);
  if (location.byte < -kFar || beyond > kFar) {
    return {
        " of memory that is no tensor, no variable and not on the stack",
        "an index over 31 bits, or an unsigned one that went below zero; or a pointer to memory of "
        "the host"};
  }
  return outside_of_tensor(access, *record().tensors.nearest(access.address, access.bytes));
}

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

void stop_out_of_part(const Access& access, const SharedPart& part) {
  const SharedMemory& shared = holder(access.address)->shared;
  const int64_t offset = access.address - shared.base;
  const SharedPart* other = part_that_holds(shared, offset);
  Report report("out-of-bounds", current());
  report.place(access.pc);
  report.text("what", sentence(access) + " at byte " + std::to_string(offset - part.offset) +
                          " of " + in_words(part) + ", which has " + count(part.bytes, "byte") +
                          (other == nullptr || other == &part
                               ? ""
                               : ": it goes to byte " + std::to_string(offset - other->offset) +
                                     " of part '" + other->name + "'"));
  report.text("cause", "an index beyond the length of the part, or a part that is taken too short");
  add(report, access, {"shared", in_words(part), offset - part.offset, part.bytes, ""});
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
  add(report, {address, alignment, Way::kRead, Strength::kPlain, pc}, location);
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

void report_left_early(const Block& block, const Stamp& access) {
  if (!record().is_news(access.place(), &block)) return;
  const Former former(access);
  Report report("cluster-target-gone", former.thread());
  report.place(access.place());
  report.text("what", "an access to shared memory of block " + std::to_string(block.place.rank) +
                          " of the cluster, which ends without waiting for it");
  report.text("cause",
              "a block must stay until the others are done with its memory: end the kernel with "
              "barrier.cluster.arrive and .wait in all blocks");
  report.file();
}

void report_before_wait(const Access& access, const Stamp& earlier, bool wrote) {
  if (!record().is_news(access.pc, earlier.place())) return;
  const Location location = locate(*current(), access.address, access.bytes);
  Report report("pdl-early", current());
  report.place(access.pc);
  report.text("what", sentence(access) + " at " + location.place() +
                          ", before griddepcontrol.wait, which an earlier kernel has " +
                          (wrote ? "written" : "read"));
  report.text("cause",
              "the launch lets this kernel begin before earlier ones have ended: their memory is "
              "touched behind griddepcontrol.wait alone, which all threads call, or one of them "
              "before a barrier");
  add(report, access, location);
  if (earlier.place() != nullptr) report.other(verb(earlier, wrote), nullptr, earlier.place());
  report.file();
}

void report_race(const Race& race) {
  const Access& access = race.access;
  // Volatile on both sides: a flag, or not, which shows when the kernel has ended.
  const bool may_be_a_flag = access.is_volatile() && race.rival.is_volatile;
  Waiting& waiting = record().waiting;
  const void* other = race.rival.place();
  if (may_be_a_flag ? !waiting.is_news(access, other) : !record().is_news(access.pc, other)) return;
  const Location location = locate(*race.thread, access.address, access.bytes);
  const char* conflict = !access.writes()   ? "read after write"
                         : race.rival_wrote ? "write after write"
                                            : "write after read";
  const Former former(race.rival);
  const std::string copy = copy_in_words(race);
  Report report(kind_of(race), race.thread);
  report.place(access.pc);
  report.text("what", std::string(conflict) + " at " + location.place() +
                          " with nothing that orders the two" +
                          (access.is_bulk() && !copy.empty() ? ": by " + copy : ""));
  const std::string phase = wrong_phase(race);
  report.text("cause", phase.empty() ? cause_of(race) : phase);
  report.text("conflict", conflict);
  add(report, access, location);
  add_copy(report, race);
  const bool is_of_copy = !copy.empty() && !access.is_bulk();
  report.other(is_of_copy ? copy : verb(race.rival, race.rival_wrote), former.thread(), other);
  if (may_be_a_flag) {
    waiting.suspect(access, std::move(report));
  } else {
    report.file();
  }
}

}  // namespace fictl_emu::check
