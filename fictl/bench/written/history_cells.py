"""Texts of a history that a terminal and Markdown share."""

from __future__ import annotations

from fictl.bench.history.levels import HistoryPoint, HistorySeries

COLUMNS = ("commit", "date", "time", "B / A", "since", "95 % interval", "verdict", "subject")
_BARS = "▁▂▃▄▅▆▇█"


def cells(point: HistoryPoint) -> tuple[str, ...]:
    """Spell a point; `since` is the commit that it is compared with."""
    comparison, median = point.comparison, point.row.median
    ratio, interval, verdict = "", "", point.note
    if comparison:
        ratio = f"{comparison.ratio:.3f}x"
        interval = f"{comparison.low:.3f} .. {comparison.high:.3f}"
        verdict = f"{comparison.verdict.value}  {comparison.advice}".rstrip()
    return (
        point.commit.short,
        point.commit.time[:10],
        f"{median * 1e6:.2f} us" if median else "-",
        ratio,
        point.against.short if point.against else "",
        interval,
        verdict,
        point.commit.subject,
    )


def sparkline(series: HistorySeries) -> str:
    """Draw the times as bars, from nothing to the slowest."""
    medians = [point.row.median or 0.0 for point in series.points]
    slowest = max(medians, default=0.0)
    if not slowest:
        return ""
    return "".join(_BARS[round((len(_BARS) - 1) * median / slowest)] for median in medians)
