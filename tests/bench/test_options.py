from __future__ import annotations

import json

from fictl.bench.options import BenchOptions


def test_options_are_the_same_after_json() -> None:
    options = BenchOptions(baselines=("a", "b"), backends=("c",), axes={"n": (1, 2)}, rounds=7)
    assert BenchOptions.from_dict(json.loads(json.dumps(options.to_dict()))) == options


def test_rounds_are_counted_where_they_are_given() -> None:
    stop = BenchOptions(rounds=3).stop
    assert not stop.reached([[1.0, 2.0]], 0.0)
    assert stop.reached([[1.0, 2.0, 9.0]], 0.0)


def test_noise_stops_it_else() -> None:
    assert BenchOptions(stdrel=0.5, max_seconds=9.0).stop.stdrel == 0.5
