"""Pictures of a report: the distribution of speedups, and the share that is faster than p times."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.dataset.report.numbers import best_by_task, fast
from fictl.dataset.report.report import Report
from fictl.dataset.report.tables import between
from fictl.plot.canvas import COLOURS, FAINT, INK, Box, Canvas, Line, Words
from fictl.quantity import counted

_WIDTH, _HEIGHT = 720.0, 260.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 60.0, 180.0, 40.0, 40.0
_ACROSS, _UP = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
_FARTHEST, _STEPS = 4.0, 80


def pictures(report: Report) -> Iterator[Canvas]:
    if report.distribution:
        yield _histogram(report)
        yield _curves(report)


def _histogram(report: Report) -> Canvas:
    canvas = Canvas(_WIDTH, _HEIGHT)
    canvas.add(Words(10, 20, "speedup over the reference, of all results that passed", size=13))
    bins = report.distribution
    width, most = _ACROSS / len(bins), max(count for _, _, count in bins)
    base = _HEIGHT - _BOTTOM
    for position, (low, high, count) in enumerate(bins):
        x, height = _LEFT + position * width, _UP * count / most
        colour = COLOURS[2] if low >= 1 else COLOURS[5]
        tip = f"{between(low, high)}: {counted(count, 'result')}"
        canvas.add(Box(x + 1, base - height, max(width - 2, 1), height, colour, tip=tip))
        canvas.add(Words(x, base + 16, f"{low:.2g}x", "middle", 10))
        if count:
            canvas.add(Words(x + width / 2, base - height - 4, str(count), "middle", 10))
    canvas.add(Line(((_LEFT, base), (_LEFT + _ACROSS, base)), INK))
    return canvas


def _curves(report: Report) -> Canvas:
    """Curves of fast_p over p, one for each of the best authors."""
    canvas = Canvas(_WIDTH, _HEIGHT)
    canvas.add(Words(10, 20, "fast_p: share of workloads more than p times as fast", size=13))
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        canvas.add(Line((_place(0, share), _place(_FARTHEST, share)), FAINT))
        canvas.add(Words(_LEFT - 6, _place(0, share)[1] + 4, f"{share:.0%}", "end", 10))
    for factor in range(int(_FARTHEST) + 1):
        x, y = _place(factor, 0)
        canvas.add(Words(x, y + 16, f"p={factor}", "middle", 10))
    for position, author in enumerate(report.authors[: len(COLOURS)]):
        best = best_by_task(result for result in report.results if result.author == author.author)
        at = [_FARTHEST * step / _STEPS for step in range(_STEPS + 1)]
        points = tuple(_place(factor, fast(best, factor)) for factor in at)
        shares = "  ".join(f"fast_{p:g} {fast(best, p):.0%}" for p in (1.0, 1.5, 2.0))
        tip = f"{author.author}\n{shares}"
        canvas.add(Line(points, COLOURS[position], 2, author.author, tip))
        y = _TOP + 12 + 18 * position
        canvas.add(Line(((_WIDTH - 170, y - 4), (_WIDTH - 150, y - 4)), COLOURS[position], 3))
        canvas.add(Words(_WIDTH - 144, y, _short(author.author), series=author.author))
    return canvas


def _place(factor: float, share: float) -> tuple[float, float]:
    return _LEFT + _ACROSS * factor / _FARTHEST, _HEIGHT - _BOTTOM - _UP * share


def _short(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:19]}…"
