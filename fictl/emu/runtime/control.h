// The runtime's interface for Python, through ctypes: fictl/emu/device.py.
#pragma once

#include "config.h"

#pragma GCC visibility push(default)
extern "C" {

// The reports since the last call, as JSON lines; valid until the next call.
const char* fictl_emu_take_reports(void);

// The runtime's ABI; a module and a device.py of another one are refused.
int fictl_emu_abi(void);

// A failed assert() calls this under its own name, __assert_fail.
void fictl_emu_assert_fail(const char* expression, const char* file, unsigned line,
                           const char* function);
}
#pragma GCC visibility pop
