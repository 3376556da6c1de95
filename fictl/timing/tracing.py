"""A CUPTI session in this process: begin it, request its records, and shut it down."""

from __future__ import annotations

import ctypes
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, ClassVar

from fictl.timing.timer import Unusable

_BUFFER_BYTES = 8 << 20
_INSTALL = 'pip install "fictl[profile]"'
_OLD = "the driver is older than this CUPTI: pip install one of its CUDA release (fictl doctor)"
_CAUSES = {
    "MULTIPLE_SUBSCRIBERS": "another profiler uses CUPTI here (ncu, nsys, compute-sanitizer, "
    "cuda-gdb, torch.profiler): one of them at a time",
    "INSUFFICIENT_PRIVILEGES": "this user may not trace; in a container: start it with "
    "--cap-add=SYS_ADMIN; else NVreg_RestrictProfilingToAdminUsers=0 (fictl doctor)",
    "NOT_INITIALIZED": _OLD,
    "NOT_COMPATIBLE": _OLD,
    "HARDWARE_BUSY": "another profiler uses this GPU: end it",
    "VIRTUALIZED_DEVICE": "this virtual GPU does not allow it: the host has to enable profiling",
}


class Tracing(ABC):
    """Context manager that always shuts CUPTI down at its end. Only one per process at a time."""

    kinds: tuple[str, ...]
    _is_on: ClassVar[bool] = False

    def __init__(self) -> None:
        self._cupti: Any = None
        self._enabled: list[Any] = []

    def __enter__(self) -> Any:
        if Tracing._is_on:
            raise Unusable("this process records by CUPTI already", "one of the two at a time")
        if _torch_profiles():
            raise Unusable(
                "torch.profiler is on, and CUPTI serves one at a time", "one of the two at a time"
            )
        try:
            self._cupti = importlib.import_module("cupti.cupti")
        except ImportError as error:
            raise Unusable(f"no CUPTI: {error}", _INSTALL) from error
        try:
            self._begin()
        except Exception as error:
            self._end()
            raise Unusable(f"CUPTI refuses: {error}", _cause(str(error))) from error
        Tracing._is_on = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        Tracing._is_on = False
        self._end()

    def run(self, number: int, call: Callable[[], object]) -> None:
        """Run a call and tag its work with `number`."""
        custom = self._cupti.ExternalCorrelationKind.CUSTOM0
        self._cupti.activity_push_external_correlation_id(custom, number)
        try:
            call()
        finally:
            self._cupti.activity_pop_external_correlation_id(custom)

    @abstractmethod
    def hear(self, records: Iterable[Any]) -> None:
        """Receive a buffer of records. They exist only during this call: copy what is needed."""

    def flush(self) -> int:
        """Receive all records of finished work; return how many were lost since the last flush."""
        self._cupti.activity_flush_all(1)
        count = ctypes.c_size_t()
        self._cupti.activity_get_num_dropped_records(0, 0, ctypes.addressof(count))
        return count.value

    def now(self) -> int:
        """Return the time in nanoseconds, by the clock of the records' timestamps."""
        return int(self._cupti.get_timestamp())

    def number(self, kind: str) -> int:
        """Return CUPTI's number for a kind of record; -1 if this CUPTI does not have it."""
        return int(getattr(self._cupti.ActivityKind, kind, -1))

    @abstractmethod
    def prepare(self) -> None:
        """Look up what the first record needs, while CUPTI is loaded."""

    def _begin(self) -> None:
        self.prepare()
        self._cupti.activity_register_callbacks(lambda: (_BUFFER_BYTES, 0), self.hear)
        for name in self.kinds:
            kind = getattr(self._cupti.ActivityKind, name)
            self._cupti.activity_enable(kind)
            self._enabled.append(kind)

    def _end(self) -> None:
        """Disable everything; one refusal must not leave the rest enabled.

        If CUPTI refused to enable anything, another profiler may own it: then leave it alone.
        """
        if not self._enabled:
            return
        while self._enabled:
            with suppress(Exception):
                self._cupti.activity_disable(self._enabled.pop())
        for step in (lambda: self._cupti.activity_flush_all(1), self._cupti.finalize):
            with suppress(Exception):
                step()


def _torch_profiles() -> bool:
    import torch

    autograd: Any = torch.autograd
    return bool(autograd._profiler_enabled())  # noqa: SLF001  # there is none in public


def _cause(problem: str) -> str:
    return next((fix for sign, fix in _CAUSES.items() if sign in problem), "fictl doctor")
