// Reductions of bulk copies into memory: element by element.
#pragma once

#include <cstddef>

namespace fictl_emu {

// Combines `bytes` at `from` into those at `to`; `reduction` is a FictlEmuReduction, `element` a
// FictlEmuElement.
void reduce_into(char* to, const char* from, size_t bytes, int reduction, int element);

// True if the instructions have this operation for elements of that type.
bool can_reduce(int reduction, int element);

size_t bytes_of_element(int element);

}  // namespace fictl_emu
