"""Summary of a profile: equal launches become one line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from fictl.profile.cupti.device import Device
from fictl.profile.cupti.row import CopyRow, HostRow, KernelRow
from fictl.profile.cupti.summary import CuptiSummary
from fictl.profile.cupti.work import BETWEEN, ApiCall, Copy, Kernel, Work
from fictl.timing.activity import Activity
from fictl.timing.cupti import spans
from fictl.toolchain.occupancy import occupancy

One = TypeVar("One", bound=Activity)


def summarise(
    name: str,
    work: Iterable[Work],
    api: Iterable[ApiCall],
    device: Callable[[int], Device | None],
) -> CuptiSummary:
    """Summarise the work that belongs to calls; `device` looks up a GPU by its number."""
    counted = [entry for entry in work if entry.call != BETWEEN]
    of_host = [entry for entry in api if entry.call != BETWEEN]
    took = spans(counted)
    gaps = [_gaps(call) for call in _by_call(counted)]
    longest, after = max((gap for call in gaps for gap in call), default=(0.0, ""))
    calls, whole = len(took), sum(entry.seconds for entry in counted)
    idle = [sum(gap for gap, _ in call) for call in gaps]
    busy = sum(took) - sum(idle)
    gpu = device(counted[0].device) if counted else None
    return CuptiSummary(
        name=name,
        device=gpu.name if gpu else "",
        calls=calls,
        kernels=tuple(
            _kernel_row(launches, calls, whole, device)
            for launches in _alike((one for one in counted if isinstance(one, Kernel)), _shape)
        ),
        copies=tuple(
            _copy_row(launches, calls, whole)
            for launches in _alike(
                (one for one in counted if isinstance(one, Copy)), lambda one: (one.name, one.bytes)
            )
        ),
        host=_host_rows(of_host, calls),
        spans=tuple(took),
        idle=tuple(idle),
        longest_gap=longest,
        after=after,
        overlap=max(0.0, whole - busy) / max(calls, 1),
    )


def _alike(launches: Iterable[One], key: Callable[[One], Hashable]) -> list[list[One]]:
    """Groups of equal key, in the order of their first launches."""
    groups: defaultdict[Hashable, list[One]] = defaultdict(list)
    for launch in launches:
        groups[key(launch)].append(launch)
    return list(groups.values())


def _by_call(work: Iterable[Work]) -> list[list[Work]]:
    return [call for _, call in sorted((call[0].call, call) for call in _alike(work, _call))]


def _call(one: Activity) -> int:
    return one.call


def _shape(one: Kernel) -> Hashable:
    """Everything that must be equal for launches to share a line: all fields but the time."""
    sizes = (one.grid, one.block, one.cluster)
    return one.name, sizes, one.registers, one.static_shared, one.dynamic_shared


def _gaps(call: Sequence[Work]) -> list[tuple[float, str]]:
    """Gaps of a call in which nothing ran: seconds, and the name of the work before."""
    gaps, last = [], call[0]
    for one in call[1:]:
        if one.start > last.end:
            gaps.append(((one.start - last.end) / 1e9, last.name))
        last = max(last, one, key=lambda entry: entry.end)
    return gaps


def _kernel_row(
    launches: Sequence[Kernel], calls: int, whole: float, device: Callable[[int], Device | None]
) -> KernelRow:
    one, seconds = launches[0], tuple(launch.seconds for launch in launches)
    row = KernelRow(
        one.name,
        len(launches) / calls,
        seconds,
        sum(seconds) / whole if whole else 0.0,
        one.grid,
        one.block,
        one.cluster,
        one.registers,
        one.static_shared,
        one.dynamic_shared,
    )
    gpu = device(one.device)
    if gpu is None:
        return row
    fits = occupancy(gpu.limits, one.threads, one.registers, one.shared)
    waves = one.blocks / (fits.blocks * gpu.sms) if fits.blocks else None
    return replace(
        row, occupancy=fits.share, limits=fits.limits, blocks_per_sm=fits.blocks, waves=waves
    )


def _copy_row(launches: Sequence[Copy], calls: int, whole: float) -> CopyRow:
    seconds = tuple(launch.seconds for launch in launches)
    share = sum(seconds) / whole if whole else 0.0
    return CopyRow(launches[0].name, len(launches) / calls, seconds, share, launches[0].bytes)


def _host_rows(api: Sequence[ApiCall], calls: int) -> tuple[HostRow, ...]:
    """Rows of the host's API calls, the longest first."""
    whole = sum(call.seconds for call in api)
    rows = []
    for alike in _alike(api, lambda one: one.name):
        of_call = [sum(call.seconds for call in one) for one in _alike(alike, _call)]
        share = sum(of_call) / whole if whole else 0.0
        rows.append(HostRow(alike[0].name, len(alike) / max(calls, 1), tuple(of_call), share))
    return tuple(sorted(rows, key=lambda row: -row.share))
