"""RUNTIME_ERROR: SIGSEGV"""

import ctypes


def run(x, s):
    ctypes.string_at(0)
