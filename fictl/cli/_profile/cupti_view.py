"""The view of what CUPTI recorded: a line per kernel, then copies, gaps and the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.paths import friendly
from fictl.profile.cupti.table import grids, remarks

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.profile.cupti.summary import CuptiSummary


def show(out: Console, result: CuptiSummary) -> None:
    out.print(f"  {_head(result)}", markup=False, style="dim", soft_wrap=True)
    out.print(f"\n[bold]{result.name}[/]", soft_wrap=True)
    for grid in grids(result):
        console.print_table(console.Table(grid.columns, grid.rows))
    for remark in remarks(result):
        out.print(f"  [dim]·[/] {remark}", soft_wrap=True)
    out.print(
        f"  wrote {friendly(result.trace)}, for ui.perfetto.dev", markup=False, soft_wrap=True
    )


def _head(result: CuptiSummary) -> str:
    parts = [
        result.device.removeprefix("NVIDIA "),
        f"{result.sm_mhz} MHz" if result.sm_mhz else "",
        "cupti",
        "cold L2" if result.cold else "warm L2",
        f"{result.calls} calls",
    ]
    return " · ".join(filter(None, parts))
