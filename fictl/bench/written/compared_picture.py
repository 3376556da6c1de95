"""A comparison as a picture: the ratio of each case with its interval, around the threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fictl.bench.compare.outcome import Compared, CompareOutcome
from fictl.bench.written.compared_cells import summary
from fictl.plot.canvas import COLOURS, FAINT, INK, Box, Canvas, Dot, Line, Words
from fictl.timing.verdict import Verdict

VERDICT_COLOURS = {
    Verdict.SAME: COLOURS[6],
    Verdict.FASTER: COLOURS[2],
    Verdict.SLOWER: COLOURS[5],
    Verdict.UNCLEAR: COLOURS[1],
}
_WIDTH, _LABEL, _VALUE = 900.0, 300.0, 190.0
_TOP, _LINE = 64.0, 18.0


def compared_picture(outcome: CompareOutcome) -> Canvas:
    bottom = _TOP + _LINE * len(outcome.cases)
    canvas = Canvas(_WIDTH, bottom + 34)
    canvas.add(
        Words(10, 20, f"{outcome.a} → {outcome.b} · {outcome.where}", size=14),
        Words(10, 38, summary(outcome)),
    )
    scale = _Scale(outcome.cases, outcome.threshold)
    left, right = scale.at(1 / (1 + outcome.threshold)), scale.at(1 + outcome.threshold)
    canvas.add(
        Box(left, _TOP - 8, right - left, bottom - _TOP + 12, FAINT),
        Line(((scale.at(1), _TOP - 8), (scale.at(1), bottom + 4)), INK),
    )
    for value, text in ((scale.low, "faster"), (1.0, ""), (scale.high, "slower")):
        spelled = f"{value:.3g}x {text}".rstrip()
        canvas.add(Words(scale.at(value), bottom + 20, spelled, "middle", 10))
    for at, case in enumerate(outcome.cases):
        _add_case(canvas, _TOP + _LINE * at + 6, case, scale)
    return canvas


class _Scale:
    """Logarithms of ratios across the picture, as far to the one side as to the other."""

    def __init__(self, cases: Sequence[Compared], threshold: float) -> None:
        ends = [end for case in cases for end in (case.comparison.low, case.comparison.high)]
        most = max([abs(math.log(end)) for end in ends if end > 0] + [3 * math.log1p(threshold)])
        self._most = most * 1.05
        self.low, self.high = math.exp(-self._most), math.exp(self._most)

    def at(self, ratio: float) -> float:
        middle = (_LABEL + _WIDTH - _VALUE) / 2
        half = (_WIDTH - _VALUE - _LABEL) / 2
        return middle + half * math.log(ratio) / self._most


def _add_case(canvas: Canvas, y: float, case: Compared, scale: _Scale) -> None:
    comparison = case.comparison
    colour = VERDICT_COLOURS[comparison.verdict]
    ends = ((scale.at(comparison.low), y), (scale.at(comparison.high), y))
    text = f"{comparison.ratio:.3f}x {comparison.verdict.value}"
    canvas.add(
        Words(_LABEL - 10, y + 4, case.case, "end"),
        Line(ends, colour, 3),
        Dot(scale.at(comparison.ratio), y, INK),
        Words(_WIDTH - _VALUE + 20, y + 4, text),
    )
