"""A row in words, for who looks at a picture: the time, how sure it is, and why there may be none."""

from __future__ import annotations

from fictl.bench.row import Row
from fictl.quantity import spell_time


def time_of(row: Row) -> str:
    """Spell the time; of a side that was refused, say so."""
    return f"✗ {row.status}" if row.median is None else spell_time(row.median)


def interval_of(row: Row) -> str:
    low, high = row.interval
    if low is None or high is None:
        return ""
    return f"{low * 1e6:.4g} to {high * 1e6:.4g} us"


def facts_of(row: Row) -> str:
    """Lines for a mark: what it is, its time with the interval, and what that comes to."""
    reached = f"{row.of_ceiling:.0%} of {row.ceiling}" if row.of_ceiling else ""
    rates = [
        f"{row.gbps:.0f} GB/s" if row.gbps else "",
        f"{row.tflops:.4g} TFLOP/s" if row.tflops else "",
    ]
    cold = "cold L2" if row.cold else "warm L2"
    lines = [
        f"{row.side} · {row.case}",
        f"{time_of(row)}   95 %: {interval_of(row)}" if row.samples else time_of(row),
        " · ".join(filter(None, [*rates, reached])),
        f"{len(row.samples)} rounds · {row.timer} · {cold}" if row.samples else "",
        row.note,
    ]
    return "\n".join(filter(None, lines))
