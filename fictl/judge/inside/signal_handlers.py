"""Signal handlers in C: those of this process that a library has set, by the file they lie in.

The kernel says from outside which signals are caught; whose code that is, only this process knows.
"""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Iterator

_STRUCT_BYTES = 256
_DEFAULT, _IGNORED = 0, 1


class _Place(ctypes.Structure):
    """Dl_info."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def of_libraries() -> dict[str, str]:
    """Files by signal number; "" for code that no file holds."""
    return {str(number): _file(address) for number, address in _caught()}


def _caught() -> Iterator[tuple[int, int]]:
    libc = ctypes.CDLL(None)
    for number in range(1, signal.NSIG):
        found = (ctypes.c_uint64 * (_STRUCT_BYTES // 8))()
        failed = libc.sigaction(number, None, ctypes.byref(found))
        if not failed and found[0] not in (_DEFAULT, _IGNORED):
            yield number, found[0]


def _file(address: int) -> str:
    place = _Place()
    found = ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(place))
    return (place.file or b"").decode("utf-8", "replace") if found else ""
