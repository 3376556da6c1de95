"""The emulated device of this process: runs kernels and returns reports about them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fictl import settings
from fictl.arch import Arch
from fictl.emu.report import Report, read_reports
from fictl.emu.schedule import Schedule
from fictl.errors import FictlError

_ABI = 1
_PATIENCE_MS = 2000
# Most elements of a case to emulate: a core does some 10 to 100 million elements a second.
MOST_ELEMENTS = 1 << 18
# The architecture whose features the emulated device has.
ARCH = Arch(8, 9)
_SM_COUNT = 4


class _Config(ctypes.Structure):
    """Mirrors the struct of runtime/config.h: same fields, same order."""

    _fields_ = (
        ("order", ctypes.c_int32),
        ("early_copies", ctypes.c_int32),
        ("seed", ctypes.c_uint64),
        ("check", ctypes.c_int32),
        ("threads", ctypes.c_int32),
        ("sm_count", ctypes.c_int32),
        ("major", ctypes.c_int32),
        ("minor", ctypes.c_int32),
        ("patience_ms", ctypes.c_int32),
        ("timeout_ms", ctypes.c_int32),
    )


class _Tensor(ctypes.Structure):
    """Mirrors the struct of runtime/tensors.h: same fields, same order."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("itemsize", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("writable", ctypes.c_int32),
    )


@dataclass(frozen=True)
class Watched:
    """A tensor as check mode sees it: address, name, layout, and whether kernels may write it."""

    name: str
    address: int
    itemsize: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    writable: bool


class EmulatedDevice:
    """The loaded runtime, configured by the settings or by run_under().

    The latest change wins: a setting changed after run_under() takes effect at the next call.
    """

    def __init__(self, library: Path) -> None:
        self._runtime = ctypes.CDLL(str(library))
        if self._runtime.fictl_emu_abi() != _ABI:
            raise FictlError(f"{library} is a runtime of another fictl", "fictl cache clear")
        self._runtime.fictl_emu_take_reports.restype = ctypes.c_char_p
        self._asked: tuple[object, ...] = ()
        self.follow_settings()

    def follow_settings(self) -> None:
        """Apply the settings if they have changed since the last call."""
        asked = (
            settings.EMU_SCHEDULE.get(),
            settings.EMU_THREADS.get(),
            settings.EMU_TIMEOUT.get(),
        )
        if asked != self._asked:
            self.run_under(Schedule.parse(asked[0]))
            self._asked = asked

    def run_under(self, schedule: Schedule, threads: int | None = None) -> None:
        """Use this schedule for later launches. A random one is repeatable only on one thread."""
        self.schedule = schedule
        cores = 1 if schedule.order == "random" else settings.EMU_THREADS.get() or 0
        config = _Config(
            schedule.code,
            schedule.early,
            schedule.seed,
            True,
            cores if threads is None else threads,
            _SM_COUNT,
            ARCH.major,
            ARCH.minor,
            _PATIENCE_MS,
            1000 * settings.EMU_TIMEOUT.get(),
        )
        self._runtime.fictl_emu_configure(ctypes.byref(config))

    def watch(self, tensors: Sequence[Watched]) -> None:
        """Set the tensors that check mode compares accesses with; replaces the previous ones."""
        rows = [_row(tensor) for tensor in tensors]
        self._runtime.fictl_emu_watch((_Tensor * len(rows))(*rows), len(rows))

    def take_reports(self) -> list[Report]:
        """Return the reports since the last call, and clear the kernels' CUDA error."""
        self._runtime.fictl_emu_cudaGetLastError()
        return read_reports(self._runtime.fictl_emu_take_reports().decode(errors="replace"))


def _row(tensor: Watched) -> _Tensor:
    dims = ctypes.c_int64 * len(tensor.shape)
    return _Tensor(
        tensor.address,
        tensor.name.encode(),
        tensor.itemsize,
        len(tensor.shape),
        dims(*tensor.shape),
        dims(*tensor.strides),
        tensor.writable,
    )
