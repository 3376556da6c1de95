"""CUPTI's records of what each call gives the GPU to do."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from fictl.timing.timer import Unusable

_BUFFER_BYTES = 8 << 20
_DEVICE_WORK = ("CONCURRENT_KERNEL", "MEMCPY", "MEMSET")
# An external correlation is recorded with the record of the API call that it is for.
_KINDS = (*_DEVICE_WORK, "RUNTIME", "DRIVER", "EXTERNAL_CORRELATION")
_INSTALL = 'pip install "fictl[profile]"'
_CAUSES = {
    "MULTIPLE_SUBSCRIBERS": "another profiler uses CUPTI here (ncu, nsys, torch.profiler): end it",
    "INSUFFICIENT_PRIVILEGES": "this user may not trace; in a container: --cap-add=SYS_ADMIN",
    "NOT_INITIALIZED": "the driver is older than this CUPTI: pip install one of its CUDA release",
    "NOT_COMPATIBLE": "the driver is older than this CUPTI: pip install one of its CUDA release",
    "HARDWARE_BUSY": "another profiler uses this GPU: end it",
}


@dataclass(frozen=True)
class Activity:
    """A kernel, copy or fill that ran on the GPU, in nanoseconds; `call` is what launched it."""

    name: str
    start: int
    end: int
    call: int


class Recording:
    """A context; CUPTI is taken down at its end, however that comes."""

    def __init__(self) -> None:
        self._cupti: Any = None
        self._enabled: list[Any] = []
        self._work: list[tuple[int, str, int, int]] = []
        self._call_of: dict[int, int] = {}

    def __enter__(self) -> Recording:
        if _torch_profiles():
            raise Unusable(
                "torch.profiler is on, and CUPTI serves one at a time", "time without it"
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
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    def run(self, number: int, call: Callable[[], object]) -> None:
        """Call it, so that its work is known by this number."""
        custom = self._cupti.ExternalCorrelationKind.CUSTOM0
        self._cupti.activity_push_external_correlation_id(custom, number)
        try:
            call()
        finally:
            self._cupti.activity_pop_external_correlation_id(custom)

    def take(self) -> list[Activity] | None:
        """What the calls since the last time did, all of it ended; None where records were lost."""
        self._cupti.activity_flush_all(1)
        work, self._work = self._work, []
        calls, self._call_of = self._call_of, {}
        if self._dropped():
            return None
        return [
            Activity(name, start, end, calls[correlation])
            for correlation, name, start, end in work
            if correlation in calls
        ]

    def _begin(self) -> None:
        kinds = self._cupti.ActivityKind
        self._cupti.activity_register_callbacks(lambda: (_BUFFER_BYTES, 0), self._completed())
        for name in _KINDS:
            kind = getattr(kinds, name)
            self._cupti.activity_enable(kind)
            self._enabled.append(kind)

    def _end(self) -> None:
        """All of it is tried: one refusal must not leave the rest of it on.

        What was refused to us altogether may be another's, and stays as it is.
        """
        if not self._enabled:
            return
        while self._enabled:
            with suppress(Exception):
                self._cupti.activity_disable(self._enabled.pop())
        for step in (lambda: self._cupti.activity_flush_all(1), self._cupti.finalize):
            with suppress(Exception):
                step()

    def _completed(self) -> Callable[[Iterable[Any]], None]:
        """A buffer's records are the callback's only: what is needed of them is copied."""
        kinds = self._cupti.ActivityKind
        work = {int(getattr(kinds, name)): name.lower() for name in _DEVICE_WORK}
        correlation = int(kinds.EXTERNAL_CORRELATION)

        def completed(records: Iterable[Any]) -> None:
            for record in records:
                kind = int(record.kind)
                if kind == correlation:
                    self._call_of[record.correlation_id] = record.external_id
                elif kind in work:
                    name = getattr(record, "name", work[kind])
                    self._work.append((record.correlation_id, name, record.start, record.end))

        return completed

    def _dropped(self) -> int:
        count = ctypes.c_size_t()
        self._cupti.activity_get_num_dropped_records(0, 0, ctypes.addressof(count))
        return count.value


def _torch_profiles() -> bool:
    import torch

    autograd: Any = torch.autograd
    return bool(autograd._profiler_enabled())  # noqa: SLF001  # there is no public one


def _cause(said: str) -> str:
    return next((fix for sign, fix in _CAUSES.items() if sign in said), "fictl doctor")
