"""The view of nsys's summary: kernels, copies, and the calls of the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.paths import friendly
from fictl.profile.nsys.run_nsys import API, COPIES, KERNELS
from fictl.profile.spelling import respelt

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.profile.nsys.summary import NsysSummary
    from fictl.profile.nsys.table import Row

_TITLES = {KERNELS: "kernel", COPIES: "copy", API: "host"}


def show(out: Console, result: NsysSummary) -> None:
    calls = f"{result.calls} call{'s' * (result.calls != 1)}"
    head = f"{result.case} · nsys {result.version} · {calls}"
    out.print(f"  {head}", markup=False, style="dim", soft_wrap=True)
    for name, title in _TITLES.items():
        rows = result.tables.get(name, ())
        if rows:
            out.print()
            console.print_table(_table(title, rows))
    out.print(
        f"\n  wrote {friendly(result.path)}, for Nsight Systems", markup=False, soft_wrap=True
    )


def _table(title: str, rows: Sequence[Row]) -> console.Table:
    columns = (title, "times", "median", "min", "max", "share")
    cells = [
        (
            respelt(row.name),
            str(row.count),
            *(f"{seconds * 1e6:.2f} us" for seconds in (row.median, row.least, row.most)),
            f"{row.share:.0f} %",
        )
        for row in rows
    ]
    return console.Table(columns, cells)
