"""The view of a profile of several ranks: a line a rank, and who waited for whom."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.paths import friendly
from fictl.profile.ranks.result import HOST
from fictl.quantity import counted, spell_time

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.profile.ranks.result import RanksProfile
    from fictl.profile.ranks.statistics import RankRow


def show(out: Console, result: RanksProfile) -> None:
    out.print(f"  {_head(result)}", markup=False, style="dim", soft_wrap=True)
    out.print(f"\n[bold]{result.name}[/]", soft_wrap=True)
    console.print_table(_table(result))
    for remark in result.remarks():
        out.print(f"  [dim]·[/] {remark}", soft_wrap=True)
    if result.recorder == HOST:
        out.print("  [dim]·[/] emulated: these are times of the host, not of a GPU", soft_wrap=True)
    out.print(
        f"  wrote {friendly(result.trace)}, for ui.perfetto.dev", markup=False, soft_wrap=True
    )


def _head(result: RanksProfile) -> str:
    first = result.summaries[0]
    parts = [
        first.device.removeprefix("NVIDIA "),
        counted(len(result.rows), "rank"),
        result.gpus,
        f"{first.sm_mhz} MHz" if first.sm_mhz else "",
        result.recorder,
        "" if result.recorder == HOST else "cold L2" if first.cold else "warm L2",
        counted(len(result.calls), "call"),
    ]
    return " · ".join(filter(None, parts))


def _table(result: RanksProfile) -> console.Table:
    columns = ("rank", "time", "min", "max", "kernels", "starts", "waits", "slowest", "starts last")
    calls = len(result.calls)
    return console.Table(columns, [_cells(row, calls) for row in result.rows])


def _cells(row: RankRow, calls: int) -> Sequence[str]:
    times = (median(row.seconds), min(row.seconds), max(row.seconds), median(row.kernels))
    return (
        str(row.rank),
        *map(spell_time, times),
        f"+{spell_time(median(row.skew))}",
        spell_time(median(row.waits)),
        f"{row.slowest} of {calls}",
        f"{row.latest} of {calls}",
    )
