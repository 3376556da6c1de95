"""Seccomp filter: refuses system calls that reach other processes and that no computation needs."""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Iterator

from fictl.judge.sandbox import kernel

# System call numbers on x86-64 and on AArch64.
_REFUSED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
}
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
# On x86-64, numbers from here on are the same calls of the x32 ABI.
_X32 = 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _MACHINE_AT = 0, 4
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_PR_SET_SECCOMP, _FILTER = 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("count", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def restrict() -> None:
    """Filter this process and its children. Requires gain_nothing() before; cannot be undone."""
    steps = [*_steps(*_MACHINES[platform.machine()])]
    code = ctypes.create_string_buffer(b"".join(steps))
    program = _Program(len(steps), ctypes.addressof(code))
    kernel.prctl_pointer(_PR_SET_SECCOMP, _FILTER, ctypes.byref(program))


def is_known() -> bool:
    """Tell whether the system call numbers of this machine are listed here."""
    return platform.machine() in _MACHINES


def _steps(machine: int, column: int) -> Iterator[bytes]:
    """Instructions of the filter; a jump counts from the step that follows it."""
    refused = sorted({numbers[column] for numbers in _REFUSED.values()})
    yield _step(_LOAD, _MACHINE_AT)
    yield _step(_EQUAL, machine, 1, 0)
    yield _step(_RETURN, _FAIL | errno.ENOSYS)
    yield _step(_LOAD, _NUMBER_AT)
    yield _step(_AT_LEAST, _X32, len(refused) + 1, 0)
    for index, number in enumerate(refused):
        yield _step(_EQUAL, number, len(refused) - index, 0)
    yield _step(_RETURN, _ALLOW)
    yield _step(_RETURN, _FAIL | errno.EPERM)


def _step(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    """Encode a struct sock_filter."""
    return struct.pack("HBBI", code, then, otherwise, value)
