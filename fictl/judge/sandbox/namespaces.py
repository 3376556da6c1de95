"""Namespaces: a network without a way out, no view of other processes, private mounts."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from fictl.judge.sandbox import kernel

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = (
    0x00020000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
_ALL = _NEWNS | _NEWIPC | _NEWUSER | _NEWNET
_REC, _PRIVATE, _BIND, _NOSUID, _NODEV, _NOEXEC = 16384, 1 << 18, 4096, 2, 4, 8
_AT_FDCWD, _AT_RECURSIVE, _READ_ONLY = -100, 0x8000, 1
# The first has sockets of daemons, through which a process could leave the sandbox.
OWN = ("/run", "/dev/shm")  # noqa: S108


def enter(
    hidden: Iterable[Path] = (), shown: Iterable[Path] = (), *, processes: bool = True
) -> None:
    """Enter new namespaces; folders of `hidden` are empty there, except for `shown` below them.

    With `processes`, the next fork is the first process of a pid namespace: its end ends all
    others.
    """
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(_ALL | (_NEWPID if processes else 0))
    with suppress(OSError):
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    kernel.mount("none", "/", "", _REC | _PRIVATE)
    for folder in OWN:
        with suppress(OSError):
            kernel.mount("fictl", folder, "tmpfs", _NOSUID | _NODEV, "size=50%")
    _hide([path for path in hidden if os.path.isdir(path)], shown)


def _hide(hidden: list[Path], shown: Iterable[Path]) -> None:
    below = [path for path in shown if any(path.is_relative_to(folder) for folder in hidden)]
    kept = {path: os.open(path, os.O_PATH) for path in below}
    for folder in hidden:
        kernel.mount("fictl", str(folder), "tmpfs", _NOSUID | _NODEV, "size=64k")
    for path, handle in kept.items():
        path.mkdir(parents=True, exist_ok=True)
        kernel.mount(f"/proc/self/fd/{handle}", str(path), "", _BIND | _REC)
        os.close(handle)


def own_proc() -> None:
    """Mount /proc of this pid namespace; called by its first process."""
    kernel.mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)


def read_only(writable: tuple[Path, ...]) -> None:
    """Make all mounts read-only except for these folders: a replacement for Landlock."""
    for folder in writable:
        kernel.mount(str(folder), str(folder), "", _BIND | _REC)
    _set("/", _READ_ONLY, 0)
    for path in (*map(str, writable), "/proc", *OWN):
        with suppress(OSError):
            _set(path, 0, _READ_ONLY)


def _set(path: str, add: int, remove: int) -> None:
    attributes = (ctypes.c_uint64 * 4)(add, remove, 0, 0)
    kernel.call(
        kernel.MOUNT_SETATTR,
        _AT_FDCWD,
        path.encode(),
        _AT_RECURSIVE,
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )
