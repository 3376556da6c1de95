"""The call log: arguments of each call, written before its kernels start, and its outcome."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, cast

import torch

from fictl import settings
from fictl.op.watch.call import Call
from fictl.op.watch.log_destination import LogDestination
from fictl.op.watch.log_lines import describe, tensors
from fictl.op.watch.statistics import statistics

VALUES, STATISTICS = 3, 5
_LINES = 40  # of an error
_LISTS = (list, tuple)

# A running call: the common part of its lines, its device if that is a GPU, its start time.
_Begun = tuple[str, "torch.device | None", int]


class CallLog:
    """An observer of calls. Each line begins with time, process and call."""

    def __init__(self, level: int, destination: LogDestination, sync: bool = False) -> None:
        self._level = level
        self._destination = destination
        self._sync = sync
        self._begun: dict[int, _Begun] = {}
        self._clock = ("none", "")  # The second of the last record, and its text.

    @classmethod
    def from_settings(cls) -> CallLog:
        destination = LogDestination(settings.LOGDEST.get())
        return cls(settings.LOGLEVEL.get(), destination, settings.LOG_SYNC.get())

    def before(self, call: Call) -> None:
        arguments = self._arguments(call) if self._level >= VALUES else {}
        gpu = _gpu(arguments.values() or (*call.args, *call.kwargs.values()))
        marks = f" #{call.sequence} {call.op.name} stream={_stream(gpu)} "
        self._write(marks, f"call{_values(arguments)}" if arguments else "call")
        if self._level >= STATISTICS:
            self._write_statistics(marks, arguments, gpu)
        if self._sync:
            self._wait(marks, gpu, "work queued before it failed")
        self._begun[call.sequence] = marks, gpu, time.perf_counter_ns()

    def after(self, call: Call, result: Any) -> None:
        marks, gpu, start = self._begun.pop(call.sequence)
        if self._sync:
            self._wait(marks, gpu, "failed on the GPU")
        elif self._level < VALUES:
            return  # A second line would double the cost of level 1.
        took = (time.perf_counter_ns() - start) / 1000
        outputs = _results(result) if self._level >= VALUES else {}
        self._write(marks, f"done in {took:.1f} us{_values(outputs)}")
        if self._level >= STATISTICS:
            self._write_statistics(marks, {**outputs, **_written(call, outputs)}, gpu)

    def failed(self, call: Call, error: BaseException) -> None:
        marks, _, start = self._begun.pop(call.sequence)
        took = (time.perf_counter_ns() - start) / 1000
        self._write_error(marks, f"failed after {took:.1f} us", error)

    def _arguments(self, call: Call) -> dict[str, Any]:
        """Return the arguments; empty if they do not fit the parameters: then the call fails."""
        try:
            return call.arguments
        except TypeError:
            return {}

    def _write(self, marks: str, *lines: str) -> None:
        """Write one record; all its lines begin the same way."""
        now = str(time.time_ns())
        second, clock = self._clock
        if not now.startswith(second):
            second = now[:-9]
            clock = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(int(second)))
            self._clock = second, clock
        head = f"fictl {clock}.{now[-9:-6]} {self._destination.origin}{marks}"
        self._destination.write(head + f"\n{head}".join(lines) + "\n")

    def _write_statistics(
        self, marks: str, values: Mapping[str, Any], gpu: torch.device | None
    ) -> None:
        """Write statistics, after the record of the values, since a broken GPU may fail here."""
        present = tensors(values)
        try:
            captured = bool(present) and _capturing(gpu)
        except Exception as error:  # A failed GPU does not answer.
            self._write_error(marks, "no statistics", error)
            return
        if captured:
            self._write(marks, "statistics: not while a graph is captured")
        elif present:
            self._write(marks, *(f"{name}: {statistics(tensor)}" for name, tensor in present))

    def _write_error(self, marks: str, what: str, error: BaseException) -> None:
        lines = f"{what}: {type(error).__name__}: {error}".splitlines()
        self._write(marks, *lines[:_LINES])

    def _wait(self, marks: str, gpu: torch.device | None, blame: str) -> None:
        """Wait for the GPU; `blame` tells which kernels an error found now belongs to."""
        try:
            if gpu is not None and not _capturing(gpu):
                torch.cuda.synchronize(gpu)
        except Exception as error:
            self._write_error(marks, blame, error)
            raise


def _gpu(values: Iterable[Any]) -> torch.device | None:
    """Return the device of the first CUDA tensor; without one, CUDA must not be initialised."""
    for value in values:
        if getattr(value, "is_cuda", False):
            return cast("torch.device", value.device)
        inside = _gpu(value) if type(value) in _LISTS else None
        if inside is not None:
            return inside
    return None


def _stream(gpu: torch.device | None) -> str:
    # As in Triton and Inductor; torch.cuda.current_stream() needs a microsecond for an object.
    return hex(torch._C._cuda_getCurrentRawStream(gpu.index)) if gpu else "-"  # noqa: SLF001


def _capturing(gpu: torch.device | None) -> bool:
    return gpu is not None and torch.cuda.is_current_stream_capturing()


def _results(result: Any) -> dict[str, Any]:
    if result is None:
        return {}
    if isinstance(result, (list, tuple)):
        return {f"result[{i}]": value for i, value in enumerate(result)}
    return {"result": result}


def _written(call: Call, outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that the op writes, except those that it returned."""
    returned = {id(value) for value in outputs.values()}
    given = {name: call.arguments.get(name) for name in call.op.mutates}
    return {name: value for name, value in given.items() if id(value) not in returned}


def _values(values: Mapping[str, Any]) -> str:
    return "".join(f" | {name}={describe(value)}" for name, value in values.items())
