// The checker's findings on asynchronous copies, wgmma and mbarriers, in words.
#pragma once

#include "launch_record.h"

namespace fictl_emu::check {

// The kind of a race: of one with an asynchronous operation, by what goes wrong with it.
const char* kind_of(const Race& race);
// The copy that is one side of the race, with the mbarrier that counts it; empty if none is.
std::string copy_in_words(const Race& race);
// Adds that copy, its tensor and its stage.
void add_copy(Report& report, const Race& race);
// The cause of a race with the operands of a wgmma.
std::string of_product(const Race& race);
// Says which wait before the access has returned too early; empty if none is known to have.
std::string wrong_phase(const Race& race);
std::string early_wait(const Thread& thread);
// A copy goes to where another has gone that nobody has waited for.
void report_refilled(const KnownCopy& before, const CopyText& copy);

// An asynchronous access behind one of a thread, with no fence of proxies between them.
void report_unfenced(const Access& access, const Stamp& earlier, bool wrote);
// A copy counts at a barrier whose initialisation the copy engine need not know.
void report_unfenced_barrier(const Stamp& init, const void* pc);
void report_overwritten(const Access& access, const Mbarrier& barrier);
void report_outside(const CopyText& copy);
// The thread's block ends while a bulk store of the thread may read its memory.
void report_outlived(const Thread& thread, const void* pc);
void report_no_product_fence(const RegisterRange& range, const void* pc);
// A product owns the registers; false if it is in no group that can be waited for.
void report_register(const Access& access, const RegisterRange& range, bool is_committed);

}  // namespace fictl_emu::check
