// The checker's findings in words: what, where, who else, and why probably.
#pragma once

#include "access.h"
#include "race.h"
#include "shadow.h"
#include "tensors.h"

namespace fictl_emu::check {

[[noreturn]] void stop_out_of_bounds(const Access& access);
// By way of a part of shared memory that does not hold it.
[[noreturn]] void stop_out_of_part(const Access& access, const SharedPart& part);
[[noreturn]] void stop_null(const Access& access);
[[noreturn]] void stop_misaligned(const char* address, const char* type, size_t alignment,
                                  const void* pc);
// An index outside of an array that is neither a tensor nor shared memory, of type `type`.
[[noreturn]] void stop_bad_index(int64_t index, const char* type, const void* pc);

void report_read_only(const Access& access, const Tensor& tensor);
// From its byte `unwritten` on.
void report_uninitialised(const Access& access, size_t unwritten);
// `block` has ended and not waited for this access of another block to its shared memory.
void report_left_early(const Block& block, const Stamp& access);
// An access before griddepcontrol.wait to what an earlier launch has written, or read.
void report_before_wait(const Access& access, const Stamp& earlier, bool wrote);
void report_race(const Race& race);

}  // namespace fictl_emu::check
