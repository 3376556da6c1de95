// mbarrier objects: what the scheduler, reports and operations of the engine ask of them. The
// instructions are in abi.h.
#pragma once

#include <string>

#include "report.h"
#include "state.h"

namespace fictl_emu {

// The initialised barrier at an address of shared memory, of this block or of another of its
// cluster. Stops the kernel if there is none; `operation` is what has asked for it.
Mbarrier& mbarrier_at(const void* address, const char* operation, const void* pc);

// Bytes of an operation have arrived; the phase may end.
void complete_bytes(Mbarrier& barrier, uint32_t bytes, const void* pc);
// One phase needs more arrivals.
void expect_arrivals(Mbarrier& barrier, uint32_t count);
// Counts arrivals, as mbarrier.arrive does.
void arrive(Mbarrier& barrier, uint32_t count, const void* pc);

// No thread can run, and no operation is outstanding: try_wait says false to those that sleep in
// it, once until another thread does something. False if it has said so to all.
bool give_up_waiting(Team& team);

// Reports barriers of a block that has ended whose bytes do not fit.
void mbarriers_after_block(const Block& block);

// The name of reports: 'full[2]', or 'shared+1024[2]' in dynamic memory.
std::string name_of(const Mbarrier& barrier);
// Its place in the array of barriers that it belongs to: the stage, of a ring.
int index_of(const Mbarrier& barrier);
// For Report: the barriers that name_of() has named since the last call, as JSON, each with all of
// its block, and the places of their initialisation.
std::string named_barriers_json();
// "parity 0, 1 of 2 arrivals missing, 4096 of 8192 bytes missing".
std::string state_of(const Mbarrier& barrier);
// The latest copy that has counted in the open phase, if any.
void add_latest_copy(Report& report, const Mbarrier& barrier);
// A barrier that has all arrivals, and never the bytes that it expects; null if none is.
const Mbarrier* mbarrier_without_bytes(const Block& block);

}  // namespace fictl_emu
