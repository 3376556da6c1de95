"""Signal handlers written in C, and the library that contains each.

From outside, the kernel reports which signals are caught; only the process itself knows whose code
handles them.
"""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Iterator

_STRUCT_BYTES = 256
_DEFAULT, _IGNORED = 0, 1


class _Place(ctypes.Structure):
    """Dl_info of the C library."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def of_libraries() -> dict[str, str]:
    """Files by signal number; '' for code that belongs to no file."""
    return {str(number): _file(address) for number, address in _caught()}


def _caught() -> Iterator[tuple[int, int]]:
    libc = ctypes.CDLL(None)
    for number in range(1, signal.NSIG):
        action = (ctypes.c_uint64 * (_STRUCT_BYTES // 8))()
        failed = libc.sigaction(number, None, ctypes.byref(action))
        if not failed and action[0] not in (_DEFAULT, _IGNORED):
            yield number, action[0]


def _file(address: int) -> str:
    place = _Place()
    is_known = ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(place))
    return (place.file or b"").decode("utf-8", "replace") if is_known else ""
