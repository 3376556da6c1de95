"""One key: who wins, who is refused, and that the caller's tensors stay what they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from fictl.op import declaration
from fictl.tune.tuning_trial import TuningTrial

Q = torch.randn(5, 64)


def _entry(call: Any, measure: Any) -> Any:
    return TuningTrial(call, measure).run()


def test_a_clear_winner_is_taken(declared: Any, untuned: Any, stopwatch: Any) -> None:
    watch = stopwatch([(1e-5, 0.9e-5, 0.8e-5, 1.1e-5)], noise=0.01)
    entry = _entry(untuned(declared(), q=Q), watch)
    assert entry.winner == {"parts": 4}
    assert [row.verdict for row in entry.candidates] == ["", "FASTER", "FASTER", "SLOWER"]
    assert watch.asked == [[0, 1, 2, 3], [0, 2]]


@pytest.mark.parametrize("noise", [0.0, 0.002, 0.3])
def test_of_candidates_alike_the_default_stays(
    noise: float, declared: Any, untuned: Any, stopwatch: Any
) -> None:
    entry = _entry(untuned(declared(), q=Q), stopwatch(noise=noise))
    assert entry.winner == {"parts": 1}


def test_a_gain_below_a_percent_is_none(declared: Any, untuned: Any, stopwatch: Any) -> None:
    watch = stopwatch([(1e-5, 0.995e-5, 1e-5, 1e-5)], noise=0.001)
    assert _entry(untuned(declared(), q=Q), watch).winner == {"parts": 1}


def test_a_winner_that_is_not_faster_once_more_was_luck(
    declared: Any, untuned: Any, stopwatch: Any
) -> None:
    watch = stopwatch([(1e-5, 0.9e-5, 1e-5, 1e-5), (1e-5, 1e-5, 0, 0)], noise=0.001)
    entry = _entry(untuned(declared(), q=Q), watch)
    assert entry.winner == {"parts": 1}
    assert entry.candidates[1].verdict == "SAME"


def _wrong_with_four(q: Any, out: Any = None, tactic: Any = None) -> Any:
    out = torch.empty_like(q) if out is None else out
    return torch.mul(q, 3 if tactic.parts == 4 else 2, out=out)


def _idle_with_four(q: Any, out: Any = None, tactic: Any = None) -> Any:
    out = torch.empty_like(q) if out is None else out
    return out if tactic.parts == 4 else torch.mul(q, 2, out=out)


def _failing_with_four(q: Any, out: Any = None, tactic: Any = None) -> Any:
    if tactic.parts == 4:
        raise RuntimeError("too many resources requested for launch")
    return torch.mul(q, 2, out=torch.empty_like(q) if out is None else out)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (_wrong_with_four, "320 of 320 elements differ"),
        (_idle_with_four, "320 of 320 elements differ"),
        (_failing_with_four, "too many resources"),
    ],
)
def test_a_tactic_that_is_wrong_or_fails_is_never_timed(
    function: Any, why: str, declared: Any, untuned: Any, stopwatch: Any
) -> None:
    watch = stopwatch([(1e-5, 1e-5, 1e-9, 1e-5)])
    entry = _entry(untuned(declared(function), q=Q), watch)
    assert entry.winner == {"parts": 1}
    assert why in entry.candidates[2].problem
    assert watch.asked == [[0, 1, 3]]


def test_where_only_the_default_works_nothing_is_timed(
    declared: Any, untuned: Any, stopwatch: Any
) -> None:
    def picky(q: Any, out: Any = None, tactic: Any = None) -> Any:
        assert tactic.parts == 1
        return 2 * q

    entry = _entry(untuned(declared(picky), q=Q), stopwatch())
    assert (entry.winner, entry.timer) == ({"parts": 1}, "")


def test_the_callers_tensors_stay_as_they_are(declared: Any, untuned: Any, stopwatch: Any) -> None:
    q, out = Q.clone(), torch.full_like(Q, 7)
    _entry(untuned(declared(), q=q, out=out), stopwatch())
    assert torch.equal(q, Q)
    assert bool((out == 7).all())


def test_a_call_in_place_reads_what_it_was_given(
    declared: Any, untuned: Any, stopwatch: Any
) -> None:
    q = Q.clone()
    entry = _entry(untuned(declared(), q=q, out=q), stopwatch())
    assert not any(row.problem for row in entry.candidates)
    assert torch.equal(q, Q)


def test_an_entry_says_what_it_was_made_with(declared: Any, untuned: Any, stopwatch: Any) -> None:
    entry = _entry(untuned(declared(), q=Q), stopwatch())
    assert (entry.timer, entry.cold, entry.rounds) == ("host", False, 40)
    assert {"torch", "cuda", "fictl", "driver"} == entry.made_with.keys()
    assert entry.candidates[0].low <= entry.candidates[0].median <= entry.candidates[0].high


def test_an_error_of_the_default_is_the_calls_own(
    declared: Any, untuned: Any, stopwatch: Any
) -> None:
    def broken(q: Any, out: Any = None, tactic: Any = None) -> Any:
        raise ValueError("q is not contiguous")

    with pytest.raises(ValueError, match="not contiguous"):
        _entry(untuned(declared(broken), q=Q), stopwatch())


def test_of_several_right_results_a_candidate_may_give_another(
    declared: Any, untuned: Any, stopwatch: Any
) -> None:
    def judge(inputs: Any, results: Any) -> None:
        if not torch.equal(results["out"].abs(), 2 * inputs["q"].abs()):
            raise AssertionError("out: neither")

    def negated_with_two(q: Any, out: Any = None, tactic: Any = None) -> Any:
        out = torch.empty_like(q) if out is None else out
        return torch.mul(q, {2: -2, 4: 3}.get(tactic.parts, 2), out=out)

    template = replace(declaration(declared()).template, judge=judge)
    api = declared(negated_with_two, trace=template)
    entry = _entry(untuned(api, q=Q), stopwatch([(1e-5, 0.9e-5, 1e-9, 1e-5)], noise=0.01))
    assert entry.winner == {"parts": 2}
    assert entry.candidates[2].problem == "out: neither"
