"""A comparison of every verdict, with a hostile name and cases that were not compared."""

from __future__ import annotations

import pytest

from fictl.bench.compare.outcome import Compared, CompareOutcome, Untimed
from fictl.timing.verdict import Comparison, Verdict

HOSTILE = "x|<img src=x>`@ada` [a](http://b)\n### head"


@pytest.fixture
def outcome() -> CompareOutcome:
    verdicts = {
        "same-8": Comparison(1.001, 0.999, 1.003, Verdict.SAME),
        "fast-8": Comparison(0.8, 0.79, 0.81, Verdict.FASTER),
        "slow-8": Comparison(1.5, 1.4, 1.6, Verdict.SLOWER),
        HOSTILE: Comparison(1.02, 0.9, 1.2, Verdict.UNCLEAR, "about 60 rounds would tell"),
    }
    cases = tuple(
        Compared("p/f/op", name, 2e-6, 2e-6 * each.ratio, each) for name, each in verdicts.items()
    )
    return CompareOutcome(
        "main",
        "feature/<b>",
        "in one run",
        "NVIDIA H200",
        0.01,
        cases,
        only_a=("gone-8",),
        only_b=("fresh-8",),
        untimed=(
            Untimed("bad-8", "feature/<b>", "out: 3 of 8 differ", True),
            Untimed("absent-8", "main", "not installed", False),
        ),
        notes=("the GPU slowed itself down: heat",),
    )
