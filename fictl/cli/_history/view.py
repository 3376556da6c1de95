"""The view of histories: a table for each case, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fictl.bench.written.history_cells import COLUMNS, cells, sparkline
from fictl.cli import console

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.bench.history.levels import HistorySeries
    from fictl.bench.history.record import Addition

_STYLES = {"SAME": "dim", "FASTER": "green", "SLOWER": "bold red", "UNCLEAR": "yellow"}


@dataclass(frozen=True)
class HistoryView:
    """`label` is where it is kept; `only_said`: the additions are not written."""

    label: str
    series: Sequence[HistorySeries]
    added: Sequence[Addition]
    only_said: bool

    def __call__(self, out: Console) -> None:
        for one in self.added:
            verb = "already has" if one.is_there else "would get" if self.only_said else "has now"
            text = f"{self.label}: {one.name} {verb} {one.entry.commit.short}"
            out.print(text, markup=False, soft_wrap=True)
        for series in self.series:
            out.print()
            out.print(series.case, style="bold", markup=False, end=" ")
            text = f" {sparkline(series)}  {series.op} · {series.machine}"
            out.print(text, markup=False, soft_wrap=True)
            rows = [cells(point) for point in reversed(series.points)]
            console.print_table(console.Table(COLUMNS, rows, _STYLES))
