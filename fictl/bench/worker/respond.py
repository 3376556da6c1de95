"""Response to a request of fictl.bench.bench_ops; rows are sent as they are measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Protocol, TypeAlias, TypeVar

from fictl.bench.messages import (
    CasesCounted,
    CaseStarted,
    GpuAfter,
    GpuBefore,
    RoundTimed,
    RowMeasured,
    VersionsFound,
    Warned,
)
from fictl.bench.observer import BenchObserver
from fictl.bench.options import BenchOptions
from fictl.bench.worker.measuring import Place, measure_case
from fictl.case.contender import Contender
from fictl.case.device_fault import device_fault
from fictl.case.selection import NoCase
from fictl.case.subject import Subject
from fictl.child.message import Done, Failed, send
from fictl.errors import FictlError
from fictl.timing.gpu_state import gpu_state
from fictl.trace import Case

Work: TypeAlias = tuple[Subject, Case, Sequence[Contender]]

# Often enough for a progress bar; a round may take less time than a message.
_EVERY_SECONDS = 0.2


class MeasuringRequest(Protocol):
    """Fields common to all requests to measure."""

    @property
    def device(self) -> str: ...

    @property
    def options(self) -> BenchOptions: ...


AnyRequest = TypeVar("AnyRequest", bound=MeasuringRequest)


class RoundSender(BenchObserver):
    """Sender of progress: the number of timed rounds, at intervals."""

    def __init__(self) -> None:
        self._sent = 0.0

    def round(self, number: int) -> None:
        if time.monotonic() - self._sent >= _EVERY_SECONDS:
            self._sent = time.monotonic()
            send(RoundTimed(number))


def respond(request: AnyRequest, work_of: Callable[[AnyRequest], Iterable[Work]]) -> int:
    """Measure the work of a request, or send the reason why it cannot be measured."""
    try:
        _measure([*work_of(request)], request.device == "emu", request.options)
    except NoCase as error:
        send(Warned(f"{error.message}; {error.hint}"))
        send(Done())
    except FictlError as error:
        send(Failed.of(error))
    return 0


def _measure(work: Sequence[Work], emulated: bool, options: BenchOptions) -> None:
    send(CasesCounted(len(work)))
    ceilings = _send_machine(emulated, options.timer)
    place = Place("cpu" if emulated else "cuda", ceilings, RoundSender())
    for subject, case, among in work:
        send(CaseStarted(case.function, str(case), dict(case.sizes), case.dtype, (*case.manner,)))
        for row in measure_case(subject, case, among, options, place):
            send(RowMeasured(row))
        if not emulated and device_fault() is not None:
            return
    if not emulated:
        send(GpuAfter(gpu_state()))
    send(Done())


def _send_machine(emulated: bool, timer: str) -> Mapping[str, float]:
    """Send versions and GPU state; return the ceilings of the device."""
    import torch

    send(VersionsFound(torch.__version__, torch.version.cuda or ""))
    if emulated:
        return {}
    ceilings = _ceilings(timer)
    # Read right after work, while the clocks are still those under load.
    send(GpuBefore(ceilings, gpu_state()))
    return ceilings


def _ceilings(timer: str) -> dict[str, float]:
    """Measure the ceilings; empty if that fails, as on a GPU whose memory is in use."""
    from fictl.timing.ceilings import ceilings

    try:
        return asdict(ceilings(timer=timer))
    except Exception as error:
        send(Warned(f"no ceilings were measured: {type(error).__name__}: {error}"))
        return {}
