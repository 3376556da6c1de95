"""System calls for which Python has no function."""

from __future__ import annotations

import ctypes
import errno
import os
from functools import cache
from typing import Any

# x86-64 and AArch64 use the same numbers for recent system calls.
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
MOUNT_SETATTR = 442

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_CAPABILITY_VERSION = 0x20080522
_MOST_CAPABILITIES = 64


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: Any) -> int:
    """Return the result of a system call; raise OSError if it fails."""
    return _checked(_libc().syscall(ctypes.c_long(number), *arguments))


def unshare(flags: int) -> None:
    _checked(_libc().unshare(flags))


def mount(source: str, target: str, kind: str, flags: int = 0, data: str = "") -> None:
    words = (word.encode() for word in (source, target, kind))
    _checked(_libc().mount(*words, ctypes.c_ulong(flags), data.encode() or None))


def prctl(option: int, value: int = 0) -> None:
    rest = (ctypes.c_ulong(0),) * 3
    _checked(_libc().prctl(option, ctypes.c_ulong(value), *rest))


def prctl_pointer(option: int, value: int, pointer: Any) -> None:
    zero = ctypes.c_ulong(0)
    _checked(_libc().prctl(option, ctypes.c_ulong(value), pointer, zero, zero))


def gain_nothing() -> None:
    """Forbid programs run from now on to gain privileges."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Drop all capabilities, also for programs run later: a namespace grants all of them."""
    for number in range(_MOST_CAPABILITIES):
        try:
            prctl(_PR_CAPBSET_DROP, number)
        except OSError as error:
            if error.errno == errno.EPERM:  # The process has no capabilities.
                break
            if error.errno == errno.EINVAL:  # The kernel has no more capabilities.
                break
            raise
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    none = (ctypes.c_uint32 * 6)()
    _checked(_libc().capset(ctypes.byref(header), ctypes.byref(none)))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
