from __future__ import annotations

from fictl.bench.options import BenchOptions
from fictl.case.options import CaseOptions
from fictl.child.codec import from_text, to_text


def test_options_are_the_same_after_json() -> None:
    options = BenchOptions(baselines=("a", "b"), backends=("c",), axes={"n": (1, 2)}, rounds=7)
    assert from_text(BenchOptions, to_text(options)) == options


def test_a_tool_that_benches_nothing_takes_those_of_cases() -> None:
    options = BenchOptions(case="k", rounds=7)
    assert options.of_cases == CaseOptions(case="k")


def test_rounds_are_counted_where_they_are_given() -> None:
    stop = BenchOptions(rounds=3).stop
    assert not stop.reached([[1.0, 2.0]], 0.0)
    assert stop.reached([[1.0, 2.0, 9.0]], 0.0)


def test_noise_stops_it_else() -> None:
    assert BenchOptions(stdrel=0.5, max_seconds=9.0).stop.stdrel == 0.5
