"""The view of `fictl profile --tool events`: a table of events per kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.paths import friendly
from fictl.profile.events.statistics import EventRow, SmRow, event_rows, quantile, sm_rows
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.profile.events.recording import Kernel
    from fictl.profile.events.result import EventsResult

_COLUMNS = ("event", "count", "at", "median", "5 %", "95 %", "max", "share")


def show(out: Console, result: EventsResult) -> None:
    from rich.markup import escape

    out.print(f"  {_head(result)}", markup=False, style="dim", soft_wrap=True)
    for kernel in result.recording.kernels:
        out.print(f"\n[bold]{escape(kernel.name)}[/]  {_facts(kernel)}", soft_wrap=True)
        rows = [_cells(row) for row in event_rows(kernel)]
        console.print_table(console.Table(_COLUMNS, rows))
        sms = sm_rows(kernel)
        if len(sms) > 1:
            out.print(f"  {_balance(sms)}", markup=False, soft_wrap=True)
        elif not kernel.is_whole:
            hint = "--blocks all shows how evenly the SMs are busy"
            out.print(f"  {hint}", markup=False, style="dim", soft_wrap=True)
    for warning in result.warnings:
        out.print(f"  [yellow]![/] {escape(warning)}", soft_wrap=True)
    out.print(
        f"\n  wrote {friendly(result.trace)}, for ui.perfetto.dev", markup=False, soft_wrap=True
    )


def _head(result: EventsResult) -> str:
    if not result.device:
        return f"{result.case} · emulated: these times say nothing of a GPU's"
    cycle, tick = result.recording.cycle, result.recording.tick
    device = result.device.removeprefix("NVIDIA ")
    clock = f"{1000 / cycle:.0f} MHz · SMs compared to {max(tick, cycle):.0f} ns"
    return f"{result.case} · {device} · events · {clock}"


def _facts(kernel: Kernel) -> str:
    blocks = counted(kernel.blocks, "block")
    if not kernel.is_whole:
        blocks = f"{kernel.recorded_blocks} of {blocks}"
    unit = "warp" if kernel.group_warps == 1 else f"group of {kernel.group_warps} warps"
    which = f"launch {kernel.launch or kernel.launches} of {kernel.launches}"
    parts = [_time(kernel.end - kernel.begin), blocks, _many(len(kernel.warps), unit)]
    return " · ".join(parts if kernel.launches == 1 else [which, *parts])


def _many(number: int, unit: str) -> str:
    """Spell a count in the plural; in `group of 4 warps` the first word changes."""
    word, _, rest = unit.partition(" ")
    return f"{counted(number, word)} {rest}".rstrip()


def _cells(row: EventRow) -> tuple[str, ...]:
    lengths = (row.median, row.p5, row.p95, row.most)
    share = "" if row.share is None else f"{100 * row.share:.1f} %"
    times = ("" if length is None else _time(length) for length in lengths)
    return (row.name, str(row.count), _time(row.at), *times, share)


def _balance(rows: Sequence[SmRow]) -> str:
    """The tail is where some SMs are done already."""
    blocks = sorted(row.blocks for row in rows)
    begins = sorted(row.begin for row in rows)
    ends = sorted(row.end for row in rows)
    tail = ends[-1] - ends[0]
    return (
        f"{len(rows)} SMs · {blocks[0]} to {blocks[-1]} blocks each · "
        f"first begin {_time(begins[0])} to {_time(begins[-1])} · "
        f"last end {_time(ends[0])} to {_time(ends[-1])}, median {_time(quantile(ends, 0.5))} · "
        f"tail {_time(tail)}, {100 * tail / ends[-1]:.0f} %"
    )


def _time(ns: float) -> str:
    for unit, scale in (("ns", 1.0), ("us", 1e3), ("ms", 1e6)):
        value = ns / scale
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "ns" else f"{value:.2f} {unit}"
    return f"{ns / 1e9:.2f} s"
