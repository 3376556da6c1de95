"""Looking at a dumped call in its process: by CUPTI, by a timer, by the emulated device's checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeAlias

from fictl.emu.report import Report
from fictl.errors import UsageError
from fictl.op import Op
from fictl.replay.dump import Dump

Run: TypeAlias = Callable[[], object]


def profiled(dump: Dump, planned: Callable[[], Run]) -> dict[str, Any]:
    """The call alone, on tensors of its own; it has run before, so nothing is loaded on the way."""
    from fictl.profile import profile_kernel

    call = planned()
    with profile_kernel(dump.name) as profile:
        call()
    return {**profile.to_dict(), "text": str(profile)}


def timed(
    op: Op, planned: Callable[[], Run], arguments: dict[str, Any], device: str
) -> dict[str, Any]:
    """Copies of the dumped tensors in turn, so that a call finds none of them in L2."""
    from fictl.timing.measure import measure
    from fictl.timing.side import Side

    side = Side(lambda index: planned(), _bytes(arguments.values()))
    samples = measure({op.name: side}, device=device)[op.name]
    low, high = samples.interval
    return {
        "median": samples.median,
        "std": samples.std,
        "interval": [low, high],
        "rounds": len(samples.seconds),
        "timer": samples.timer,
        "why": samples.why,
        "cold": samples.cold,
        "copies": samples.copies,
        "kernels": [vars(kernel) for kernel in samples.kernels],
        "changes": _changed(op, arguments),
    }


def reported(folder: str, rows: list[dict[str, Any]]) -> Callable[[str, list[Report]], None]:
    """Fills `rows`, as fictl sanitize has them."""

    def add(op: str, reports: list[Report]) -> None:
        rows.extend(
            {"folder": folder, "op": op, "test": "", **report.to_dict(), "text": report.text()}
            for report in reports
        )

    return add


def _bytes(values: Iterable[Any]) -> int:
    """Each piece of memory once, and of it what the tensors can have."""
    storages = {
        value.untyped_storage().data_ptr(): value.untyped_storage().nbytes()
        for value in values
        if hasattr(value, "untyped_storage")
    }
    return sum(storages.values())


def _changed(op: Op, arguments: dict[str, Any]) -> list[str]:
    """The inputs that each call finds as the one before has left them."""
    given = {name for name in op.mutates if arguments.get(name) is not None}
    with suppress(UsageError):  # An op without a trace may read all that it changes.
        given &= {op.template.parameter(name) for name in op.template.inputs}
    return sorted(given)
