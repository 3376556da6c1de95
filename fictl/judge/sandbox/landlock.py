"""Landlock: the kernel denies this process and its children all files that no rule allows."""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from fictl.judge.sandbox import kernel

_VERSION = 1  # A flag: the answer is the ABI.
_PATH_BENEATH = 1
_EXECUTE, _WRITE, _READ, _LIST = (1 << bit for bit in range(4))
_OF_FILES = _EXECUTE | _WRITE | _READ
_READING = _EXECUTE | _READ | _LIST
# Rights that each ABI can refuse, except for ioctl on devices, which drives a GPU.
_ALL = (1 << 13) - 1
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_TCP = 0b11  # bind, connect
_SCOPED = 0b11  # abstract sockets, signals: to processes of the same sandbox alone


def abi() -> int:
    """ABI version of the kernel's Landlock; 0 if it has none or has it switched off."""
    with suppress(OSError):
        return kernel.call(kernel.LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    return 0


def refuses_tcp() -> bool:
    return abi() >= 4


def restrict(
    writable: Iterable[Path], hidden: Iterable[Path] = (), shown: Iterable[Path] = ()
) -> None:
    """Allow writing only below `writable`, and to the process's own files in /proc, which CUDA
    needs to name its threads. Nothing below `hidden` can be read, except for `shown`.

    Requires gain_nothing() before, and cannot be undone.
    """
    version = abi()
    handled = _handled(version)
    ruleset = _create(version, handled)
    try:
        for path in (*readable(hidden), *shown):
            _allow(ruleset, path, _READING)
        for path in writable:
            _allow(ruleset, path, handled)
        # Kept open, so that /proc keeps the inode of the rule.
        own = os.open("/proc/self", os.O_PATH | os.O_CLOEXEC)
        _allow_open(ruleset, own, handled & (_WRITE | _TRUNCATE))
        kernel.call(kernel.LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def readable(hidden: Iterable[Path]) -> Iterator[Path]:
    """Paths to allow: rules can only allow, so everything around `hidden` is listed."""
    secret = {path.resolve() for path in hidden}
    if not secret:
        yield Path("/")
        return
    above = {parent for path in secret for parent in path.parents}
    for folder in above - secret:
        with suppress(OSError):
            for entry in folder.iterdir():
                if entry not in above and entry not in secret and not entry.is_symlink():
                    yield entry


def _handled(version: int) -> int:
    return _ALL | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)


def _create(version: int, handled: int) -> int:
    fields = [handled, *([_TCP] if version >= 4 else []), *([_SCOPED] if version >= 6 else [])]
    attributes = (ctypes.c_uint64 * len(fields))(*fields)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    return kernel.call(kernel.LANDLOCK_CREATE_RULESET, ctypes.byref(attributes), size, 0)


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def _allow(ruleset: int, path: Path, access: int) -> None:
    """Add a rule for `path`, if it exists."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        _allow_open(ruleset, handle, access)
    finally:
        os.close(handle)


def _allow_open(ruleset: int, handle: int, access: int) -> None:
    is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
    allowed = access if is_folder else access & (_OF_FILES | _TRUNCATE)
    rule = ctypes.byref(_Beneath(allowed, handle))
    kernel.call(kernel.LANDLOCK_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
