"""Observation of a dumped call in its process: by CUPTI, a timer, or the emulated checks."""

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
    """Record the call alone, on its own tensors. It has run before, so nothing is loaded in
    between.
    """
    from fictl.profile import profile_kernel

    call = planned()
    with profile_kernel(dump.name) as profile:
        call()
    return {**profile.to_dict(), "text": str(profile)}


def timed(
    op: Op, planned: Callable[[], Run], arguments: dict[str, Any], device: str
) -> dict[str, Any]:
    """Time the call on rotating copies of the dumped tensors, so that L2 holds none of them."""
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
    """Return a callback that appends reports to `rows`, in the form of fictl sanitize."""

    def add(op: str, reports: list[Report]) -> None:
        rows.extend(
            {"folder": folder, "op": op, "test": "", **report.to_dict(), "text": report.text()}
            for report in reports
        )

    return add


def _bytes(values: Iterable[Any]) -> int:
    """Size of the tensors' memory: each storage counts once, and only the part that
    tensors reach.
    """
    storages = {
        value.untyped_storage().data_ptr(): value.untyped_storage().nbytes()
        for value in values
        if hasattr(value, "untyped_storage")
    }
    return sum(storages.values())


def _changed(op: Op, arguments: dict[str, Any]) -> list[str]:
    """Inputs that a call modifies, so that the next call finds other values."""
    given = {name for name in op.mutates if arguments.get(name) is not None}
    with suppress(UsageError):  # An op without a trace may read all that it changes.
        given &= {op.template.parameter(name) for name in op.template.inputs}
    return sorted(given)
