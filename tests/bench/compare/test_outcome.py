"""The exit code and the counts of what was compared."""

from __future__ import annotations

import json

import pytest

from fictl.bench.compare.outcome import Compared, CompareOutcome, Untimed
from fictl.timing.verdict import Comparison, Verdict


def outcome(*verdicts: Verdict, **more: object) -> CompareOutcome:
    cases = tuple(
        Compared("p/f/op", f"op-{i}", 1e-6, 2e-6, Comparison(2.0, 1.9, 2.1, verdict))
        for i, verdict in enumerate(verdicts)
    )
    return CompareOutcome("a", "b", "in one run", "NVIDIA H200", 0.01, cases, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([Verdict.SAME, Verdict.FASTER, Verdict.UNCLEAR], 0),
        ([Verdict.SAME, Verdict.SLOWER], 1),
        ([], 3),
    ],
)
def test_the_exit_code_is_1_on_slower_and_3_on_nothing(verdicts: list[Verdict], code: int) -> None:
    assert outcome(*verdicts).exit_code == code


@pytest.mark.parametrize(("fails", "code"), [(True, 1), (False, 0)])
def test_a_newer_side_that_is_wrong_fails(fails: bool, code: int) -> None:
    found = outcome(Verdict.SAME, untimed=(Untimed("op-9", "b", "wrong", fails),))
    assert found.exit_code == code


def test_counts_are_in_the_order_of_verdicts() -> None:
    found = outcome(Verdict.SLOWER, Verdict.SAME, Verdict.SLOWER)
    assert list(found.counts.items()) == [("SAME", 1), ("SLOWER", 2)]


def test_it_is_json() -> None:
    data = json.loads(json.dumps(outcome(Verdict.FASTER).to_dict()))
    assert data["counts"] == {"FASTER": 1}
    assert data["cases"][0] == {
        "op": "p/f/op",
        "case": "op-0",
        "a": 1e-6,
        "b": 2e-6,
        "ratio": 2.0,
        "low": 1.9,
        "high": 2.1,
        "verdict": "FASTER",
        "advice": "",
    }
