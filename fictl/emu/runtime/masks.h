// Checks of the masks of warp operations: a mask names the lanes that arrive, and no others.
#pragma once

#include <cstring>
#include <string>

#include "state.h"

namespace fictl_emu {

inline bool same_operation(const char* a, const char* b) { return a == b || strcmp(a, b) == 0; }

// The operation that `caller` has come to does not name it.
[[noreturn]] void stop_without_caller(const Thread& caller);

// Called when all named lanes that still run have arrived: a lane that has returned must not be
// named.
void require_participants(const Block& block, uint32_t warp, const Collective& collective);

// "lane 3", "lanes 0-15": those of a mask.
std::string lanes_in_words(uint32_t lanes);
std::string mask_in_words(uint32_t mask);

}  // namespace fictl_emu
