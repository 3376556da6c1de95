"""The profile of several ranks as people read it."""

from __future__ import annotations

from rich.console import Console

from fictl.cli._profile.ranks_view import show
from fictl.profile.cupti.summary import CuptiSummary
from fictl.profile.ranks.clocks import ClockReading, CommonClock, RankClock
from fictl.profile.ranks.result import CUPTI, RanksProfile
from fictl.profile.ranks.statistics import RankCall, RankRow


def test_a_rank_has_a_line(capsys) -> None:
    summary = CuptiSummary(
        "sum-8", "NVIDIA H200", 1, (), (), (), (9e-6,), (0.0,), 0.0, sm_mhz=1980, cold=True
    )
    own = RankClock(ClockReading(0, 0, 100), ClockReading(9, 9, 100))
    rows = (
        RankRow(0, "GPU 0", (9e-6,), (8e-6,), (0.0,), (2e-6,), 1, 0),
        RankRow(1, "GPU 1", (7e-6,), (6e-6,), (2e-6,), (0.0,), 0, 1),
    )
    calls = {0: RankCall(((0, 9_000), (2_000, 9_000)))}
    clock = CommonClock((own, own), 200, 0)
    trace = "out/sum-8.2-gpus.trace.json"
    names = ("GPUs 0, 1 (NV18)", calls, rows, (summary, summary), clock, trace)
    show(Console(width=400, highlight=False), RanksProfile("sum-8", CUPTI, *names))
    assert capsys.readouterr().out.splitlines() == [
        "  H200 · 2 ranks · GPUs 0, 1 (NV18) · 1980 MHz · cupti · cold L2 · 1 call",
        "",
        "sum-8",
        "rank  time     min      max      kernels  starts    waits    slowest  starts last",
        "0     9.00 us  9.00 us  9.00 us  8.00 us  +0.00 us  2.00 us  1 of 1   0 of 1",
        "1     7.00 us  7.00 us  7.00 us  6.00 us  +2.00 us  0.00 us  0 of 1   1 of 1",
        "  · a call: 9.00 us on the slowest rank (9.00 us to 9.00 us in 1)",
        "  · rank 1 starts last in 1 of 1 calls, 2.00 us after the first; the others wait up to 2.00 us",
        "  · clocks: one for all ranks, to 0.20 us",
        "  wrote out/sum-8.2-gpus.trace.json, for ui.perfetto.dev",
    ]
