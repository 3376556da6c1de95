"""Readable names of kernels."""

from __future__ import annotations

import ctypes
from functools import cache


@cache
def readable(mangled: str) -> str:
    """Demangle: the function with its template arguments, without return type and parameters."""
    name = _demangled(mangled).removeprefix("void ")
    depth = 0
    for position, letter in enumerate(name):
        if letter == "(" and depth == 0 and not name.startswith("(anonymous", position):
            return name[:position]
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
    return name


def _demangled(name: str) -> str:
    if not name.startswith("_Z"):
        return name
    try:
        demangle = ctypes.CDLL("libstdc++.so.6")["__cxa_demangle"]
    except (OSError, AttributeError):
        return name
    demangle.restype = ctypes.c_void_p
    status = ctypes.c_int()
    text = demangle(name.encode(), None, None, ctypes.byref(status))
    if not text:
        return name
    try:
        return ctypes.string_at(text).decode()
    finally:
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
        free(text)
