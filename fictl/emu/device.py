"""The emulated device of this process: how it runs kernels, and what it has to report of them."""

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
# What it can do is what GPUs of this architecture can.
# A core emulates some 10 to 100 million elements a second: what has more is left to GPUs.
MOST_ELEMENTS = 1 << 18
ARCH = Arch(8, 9)
_SM_COUNT = 4


class _Config(ctypes.Structure):
    """runtime/config.h has the same fields in the same order."""

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
    """runtime/tensors.h has the same fields in the same order."""

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
    """A tensor as check mode must know it: where it lies, by what name, and whether it is written."""

    name: str
    address: int
    itemsize: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    writable: bool


class EmulatedDevice:
    """The runtime, loaded; it is as the settings say until run_under() says otherwise.

    Whichever speaks last counts: a setting that is changed later is followed at the next call.
    """

    def __init__(self, library: Path) -> None:
        self._runtime = ctypes.CDLL(str(library))
        if self._runtime.fictl_emu_abi() != _ABI:
            raise FictlError(f"{library} is a runtime of another fictl", "fictl cache clear")
        self._runtime.fictl_emu_take_reports.restype = ctypes.c_char_p
        self._asked: tuple[object, ...] = ()
        self.follow_settings()

    def follow_settings(self) -> None:
        """Run from now on as the settings say, where they say something else than before."""
        asked = (
            settings.EMU_SCHEDULE.get(),
            settings.EMU_THREADS.get(),
            settings.EMU_TIMEOUT.get(),
        )
        if asked != self._asked:
            self.run_under(Schedule.parse(asked[0]))
            self._asked = asked

    def run_under(self, schedule: Schedule, threads: int | None = None) -> None:
        """Set the schedule from the next launch on. One system thread makes a random one repeatable."""
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
        """Set the tensors that check mode compares accesses with, until the next call."""
        rows = [_row(tensor) for tensor in tensors]
        self._runtime.fictl_emu_watch((_Tensor * len(rows))(*rows), len(rows))

    def take_reports(self) -> list[Report]:
        """Those since the last call; an error of the kernels they are about is not the next one's."""
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
