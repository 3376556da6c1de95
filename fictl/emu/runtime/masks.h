// What a mask of a warp operation may name: the lanes that come, and no others.
#pragma once

#include <cstring>
#include <string>

#include "state.h"

namespace fictl_emu {

inline bool same_operation(const char* a, const char* b) { return a == b || strcmp(a, b) == 0; }

// The operation that `caller` has come to does not name it.
[[noreturn]] void stop_without_caller(const Thread& caller);

// Of an operation that all named lanes that live have come to: those that have returned may not be
// missed.
void require_participants(const Block& block, uint32_t warp, const Collective& collective);

// "lane 3", "lanes 0-15": those of a mask.
std::string lanes_in_words(uint32_t lanes);
std::string mask_in_words(uint32_t mask);

}  // namespace fictl_emu
