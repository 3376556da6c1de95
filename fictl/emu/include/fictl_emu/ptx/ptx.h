// Functions that replace inline PTX.
#pragma once

#include <fictl_emu/ptx/convert.h>
#include <fictl_emu/ptx/matrix.h>
#include <fictl_emu/ptx/memory.h>
#include <fictl_emu/ptx/warp.h>
#include <fictl_emu/ptx/wgmma.h>
