"""The emulated device of this process: runs kernels and returns reports about them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.arch import Arch
from fictl.emu.ranks import Ranks
from fictl.emu.report import Report, read_reports
from fictl.emu.schedule import Schedule
from fictl.emu.watched import TensorRow, Watched, row_of
from fictl.errors import FictlError

__all__ = ["ARCH", "MOST_ELEMENTS", "EmulatedDevice", "Watched"]

_ABI = 1
_PATIENCE_MS = 2000
# Most elements of a case to emulate: a core does some 10 to 100 million elements a second.
MOST_ELEMENTS = 1 << 18
# The architecture whose features the emulated device has.
ARCH = Arch(9, 0)
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
        ("strict", ctypes.c_int32),
    )


class EmulatedDevice:
    """The loaded runtime, configured by the settings or by run_under().

    The latest change wins: a setting changed after run_under() takes effect at the next call.
    """

    # How long threads may spin without progress; more where they wait for another process.
    patience_ms = _PATIENCE_MS

    def __init__(self, library: Path) -> None:
        self._runtime = ctypes.CDLL(str(library))
        if self._runtime.fictl_emu_abi() != _ABI:
            raise FictlError(f"{library} is a runtime of another fictl", "fictl cache clear")
        self._runtime.fictl_emu_take_reports.restype = ctypes.c_char_p
        self._asked: tuple[object, ...] = ()
        self._ranks: Ranks | None = None
        self.follow_settings()

    def follow_settings(self) -> None:
        """Apply the settings if they have changed since the last call."""
        asked = (
            settings.EMU_SCHEDULE.get(),
            settings.EMU_THREADS.get(),
            settings.EMU_TIMEOUT.get(),
            settings.EMU_STRICT.get(),
            self.patience_ms,
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
            self.patience_ms,
            1000 * settings.EMU_TIMEOUT.get(),
            settings.EMU_STRICT.get(),
        )
        self._runtime.fictl_emu_configure(ctypes.byref(config))

    def watch(self, tensors: Sequence[Watched]) -> None:
        """Set the tensors that check mode compares accesses with; replaces the previous ones."""
        if self._ranks is not None:
            tensors = self._ranks.add(tensors)
        rows = [row_of(tensor) for tensor in tensors]
        self._runtime.fictl_emu_watch((TensorRow * len(rows))(*rows), len(rows))

    def keep(self, arguments: Sequence[Any]) -> None:
        """Keep the arguments of a call alive, if its kernels run later."""
        if self._ranks is not None:
            self._ranks.arguments += arguments

    @contextmanager
    def ranks(self) -> Iterator[Ranks]:
        """Keep launches, and run them together at the end; next() says whose they are.

        Results are there, and reports can be taken, behind the block.
        """
        if self._ranks is not None:
            raise FictlError("the launches of several ranks are being made already", "end them")
        self._ranks = ranks = Ranks(self._runtime)
        ranks.begin()
        try:
            yield ranks
            ranks.run()
        finally:
            ranks.discard()
            self._ranks = None

    def take_reports(self) -> list[Report]:
        """Return the reports since the last call, and clear the kernels' CUDA error."""
        self._runtime.fictl_emu_cudaGetLastError()
        return read_reports(self._runtime.fictl_emu_take_reports().decode(errors="replace"))
