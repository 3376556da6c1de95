"""A summary for people: tables of text, and remarks that the tables do not show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fictl.profile.cupti.row import CopyRow, HostRow, KernelRow, Row
from fictl.profile.cupti.summary import CuptiSummary
from fictl.quantity import spell_size, spell_time

_LONGEST = 56
_HOST_CALLS = 3
# Values below these are noise, and are not printed.
_HOST_SHARE = 0.05
_OVERLAP = 0.01


@dataclass(frozen=True)
class Grid:
    """Cells by row, without columns that would be empty."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, rows: Sequence[Any], columns: Mapping[str, Callable[[Any], str]]) -> Grid:
        filled = {name: text for name, text in columns.items() if any(map(text, rows))}
        return cls(
            tuple(filled), tuple(tuple(text(row) for text in filled.values()) for row in rows)
        )

    def lines(self) -> list[str]:
        """Lines with aligned columns, for output that is not a terminal."""
        every = (self.columns, *self.rows)
        widths = [max(map(len, cells)) for cells in zip(*every, strict=True)]
        padded = ([c.ljust(w) for c, w in zip(line, widths, strict=True)] for line in every)
        return ["  ".join(line).rstrip() for line in padded]


def grids(summary: CuptiSummary) -> list[Grid]:
    """Tables of kernels and of copies, if there are any."""
    several = any(row.launches != 1 for row in (*summary.kernels, *summary.copies))
    tables = []
    if summary.kernels:
        tables.append(Grid.of(summary.kernels, {**_names("kernel", several), **_KERNEL, **_TIMES}))
    if summary.copies:
        tables.append(Grid.of(summary.copies, {**_names("copy", several), **_COPY, **_TIMES}))
    return tables


def remarks(summary: CuptiSummary) -> Iterator[str]:
    if not summary.spans:
        yield "nothing ran on the GPU"
        return
    yield _calls(summary)
    if summary.overlap > _OVERLAP * summary.median:
        yield (
            f"launches overlap by {spell_time(summary.overlap)} a call: one that begins before the "
            "work ahead has ended waits for it, and this is in its time"
        )
    if summary.longest_gap:
        idle = sum(summary.idle) / sum(summary.spans)
        yield (
            f"idle: {idle:.1%} of it; the longest gap {spell_time(summary.longest_gap)}, after "
            f"{_short(summary.after)}"
        )
    if summary.host:
        yield f"host: {_host(summary.host)} (recording them takes some of that)"


def text(summary: CuptiSummary) -> str:
    head = f"{summary.name}  {summary.device}".rstrip()
    tables = [line for grid in grids(summary) for line in (*grid.lines(), "")]
    return "\n".join([head, "", *tables, *remarks(summary)])


def _calls(summary: CuptiSummary) -> str:
    """Time of a call; a single call is the whole recording."""
    if summary.calls == 1:
        return (
            f"on the GPU: {spell_time(summary.spans[0])} from the first beginning to the last end"
        )
    least, most = spell_time(min(summary.spans)), spell_time(max(summary.spans))
    return f"a call: {spell_time(summary.median)} on the GPU ({least} to {most} in {summary.calls})"


def _host(rows: Sequence[HostRow]) -> str:
    """The API calls that take longest."""
    longest = [row for row in rows[:_HOST_CALLS] if row.share >= _HOST_SHARE]
    return ", ".join(f"{spell_time(row.median)} in {_counted(row)}" for row in longest)


def _counted(row: HostRow) -> str:
    return row.name if row.launches == 1 else f"{row.launches:.3g} {row.name}"


def _names(what: str, several: bool) -> dict[str, Callable[[Any], str]]:
    launches = {"launches": lambda row: f"{row.launches:.3g}"} if several else {}
    return {what: lambda row: _short(row.name), **launches}


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _size(size: tuple[int, int, int]) -> str:
    """Spell a grid or block without unused dimensions."""
    used = max([i for i, n in enumerate(size) if n > 1], default=0)
    return "x".join(str(n) for n in size[: used + 1])


def _shared(row: KernelRow) -> str:
    parts = {"": row.static_shared, " dyn": row.dynamic_shared}
    return " + ".join(f"{spell_size(n)}{kind}" for kind, n in parts.items() if n)


def _waves(count: float) -> str:
    return f"{count:.3g}" if count >= 0.01 else "<0.01"


def _occupancy(row: KernelRow) -> str:
    if row.occupancy is None:
        return ""
    why = f" {'/'.join(row.limits)}" if row.occupancy < 1 else ""
    return f"{row.occupancy:.0%}{why}"


_KERNEL: Mapping[str, Callable[[KernelRow], str]] = {
    "grid": lambda row: _size(row.grid),
    "block": lambda row: _size(row.block),
    "cluster": lambda row: _size(row.cluster) if max(row.cluster) > 1 else "",
    "regs": lambda row: str(row.registers),
    "shared": _shared,
    "occupancy": _occupancy,
    "waves": lambda row: _waves(row.waves) if row.waves else "",
}
_COPY: Mapping[str, Callable[[CopyRow], str]] = {
    "bytes": lambda row: spell_size(row.bytes),
    "GB/s": lambda row: f"{row.gbps:.4g}" if row.gbps >= 0.1 else "<0.1",
}
_TIMES: Mapping[str, Callable[[Row], str]] = {
    "median": lambda row: spell_time(row.median),
    "min": lambda row: spell_time(min(row.seconds)),
    "max": lambda row: spell_time(max(row.seconds)),
    "share": lambda row: f"{row.share:.1%}",
}
