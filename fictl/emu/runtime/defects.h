// The checker's findings in words: what, where, who else, and why probably.
#pragma once

#include "access.h"
#include "shadow.h"
#include "tensors.h"

namespace fictl_emu::check {

[[noreturn]] void stop_out_of_bounds(const Access& access);
[[noreturn]] void stop_null(const Access& access);
[[noreturn]] void stop_misaligned(const char* address, const char* type, size_t alignment,
                                  const void* pc);
// Of an array that is no tensor and no shared memory; `type` is that of the array.
[[noreturn]] void stop_bad_index(int64_t index, const char* type, const void* pc);

void report_read_only(const Access& access, const Tensor& tensor);
// From its byte `unwritten` on.
void report_uninitialised(const Access& access, size_t unwritten);
// An access of `thread` that `rival` is not ordered before, which wrote or read the same memory.
void report_race(const Access& access, const Thread& thread, const Stamp& rival, bool rival_wrote);

}  // namespace fictl_emu::check
