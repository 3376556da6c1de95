// Why two accesses race, most probably.
#pragma once

#include <string>

#include "race.h"

namespace fictl_emu::check {

std::string cause_of(const Race& race);

}  // namespace fictl_emu::check
