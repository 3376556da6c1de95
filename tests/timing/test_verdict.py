"""Verdicts on timings of which the truth is known: simulated here, or recorded on a GPU."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fictl.errors import InvalidValue
from fictl.timing.verdict import Comparison, Verdict, compare_rounds, compare_runs

RECORDED = [
    pytest.param(case, id=f"{path.stem}-{case['name']}")
    for path in sorted(Path(__file__).with_name("recorded").glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]
]


@dataclass(frozen=True)
class Machine:
    """Log-normal noise, one-sided outliers, a drift that both sides see, a timer that steps."""

    seconds: float = 20e-6
    noise: float = 0.005
    outliers: float = 0.03
    drift: float = 0.02
    tick: float = 0.0

    def rounds(
        self, chance: random.Random, count: int, slower: float = 0.0
    ) -> tuple[list[float], list[float]]:
        """The second side takes `slower` more time than the first."""
        phase = chance.uniform(0, 6)
        drift = [1 + self.drift * math.sin(phase + 4 * i / count) for i in range(count)]
        first = [self._read(chance, self.seconds * each) for each in drift]
        second = [self._read(chance, self.seconds * each * (1 + slower)) for each in drift]
        return first, second

    def _read(self, chance: random.Random, seconds: float) -> float:
        seconds *= chance.lognormvariate(0, self.noise)
        if chance.random() < self.outliers:
            seconds *= 1 + chance.uniform(0.03, 0.10)
        return round(seconds / self.tick) * self.tick if self.tick else seconds


def verdicts(compare: Callable[[random.Random], Comparison], runs: int = 100) -> Counter[str]:
    chance = random.Random(20261121)
    return Counter(compare(chance).verdict.value for _ in range(runs))


@pytest.mark.parametrize("noise", [0.002, 0.005, 0.01])
@pytest.mark.parametrize("rounds", [15, 30, 60])
@pytest.mark.parametrize(
    ("slower", "expected"), [(0.0, "SAME"), (0.03, "SLOWER"), (-0.03, "FASTER")]
)
def test_rounds_of_one_run(rounds: int, noise: float, slower: float, expected: str) -> None:
    machine = Machine(noise=noise)
    found = verdicts(lambda chance: compare_rounds(*machine.rounds(chance, rounds, slower)))
    assert found[expected] >= 95, found
    assert {*found} <= {expected, "UNCLEAR"}


def test_at_the_threshold_slower_is_rarely_said() -> None:
    machine = Machine(noise=0.01)
    found = verdicts(lambda chance: compare_rounds(*machine.rounds(chance, 30, 0.01)), 400)
    assert found["SLOWER"] <= 0.05 * 400, found


@pytest.mark.parametrize("noise", [0.0005, 0.002, 0.01])
@pytest.mark.parametrize("seconds", [5.0e-6, 5.1e-6, 5.2e-6, 5.25e-6])
@pytest.mark.parametrize("slower", [0.0, 0.03])
def test_a_coarse_timer_decides_nothing_by_luck(
    seconds: float, noise: float, slower: float
) -> None:
    machine = Machine(seconds, noise, drift=0.0, tick=0.5e-6)
    found = verdicts(lambda chance: compare_rounds(*machine.rounds(chance, 30, slower)))
    assert {*found} <= {"SAME", "UNCLEAR"}


def test_a_coarse_timer_still_sees_what_is_larger_than_its_step() -> None:
    machine = Machine(5.2e-6, drift=0.0, tick=0.5e-6)
    found = verdicts(lambda chance: compare_rounds(*machine.rounds(chance, 30, 0.3)))
    assert found["SLOWER"] >= 95, found


@pytest.mark.parametrize(("slower", "expected"), [(0.0, "SAME"), (0.04, "SLOWER")])
def test_different_runs(slower: float, expected: str) -> None:
    """Each run has a level of its own: clocks, temperature, where its memory lies."""
    machine = Machine(drift=0.0)

    def compare(chance: random.Random) -> Comparison:
        first, _ = machine.rounds(chance, 30)
        _, second = machine.rounds(chance, 30, slower)
        level = chance.gauss(1, 0.003)
        return compare_runs(first, [each * level for each in second])

    found = verdicts(compare)
    assert found[expected] >= 95, found


def test_what_is_slower_in_one_run_may_be_no_difference_between_runs() -> None:
    first, second = Machine(noise=0.001, drift=0.0).rounds(random.Random(1), 60, 0.015)
    assert compare_rounds(first, second).verdict is Verdict.SLOWER
    assert compare_runs(first, second).verdict is Verdict.SAME


def test_exchanging_the_sides_inverts_the_answer() -> None:
    first, second = Machine().rounds(random.Random(2), 30, 0.05)
    forth, back = compare_rounds(first, second), compare_rounds(second, first)
    assert (forth.verdict, back.verdict) == (Verdict.SLOWER, Verdict.FASTER)
    assert forth.ratio == pytest.approx(1 / back.ratio)
    assert (forth.low, forth.high) == pytest.approx((1 / back.high, 1 / back.low))


def test_a_larger_threshold_forgives_more() -> None:
    first, second = Machine().rounds(random.Random(3), 60, 0.03)
    assert compare_rounds(first, second, threshold=0.05).verdict is Verdict.SAME


def test_thousands_of_rounds_are_compared_too() -> None:
    first, second = Machine().rounds(random.Random(4), 5000, 0.03)
    found = compare_rounds(first, second)
    assert found.verdict is Verdict.SLOWER
    assert found.ratio == pytest.approx(1.03, abs=0.002)


@pytest.mark.parametrize("compare", [compare_rounds, compare_runs])
@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_a_few_rounds_decide_nothing(compare: Callable[..., Comparison], rounds: int) -> None:
    found = compare([1.0] * rounds, [2.0] * rounds)
    assert found.verdict is Verdict.UNCLEAR
    assert found.advice == f"{rounds} rounds are too few: 6 at least"


def test_noise_asks_for_as_many_rounds_as_would_tell() -> None:
    machine = Machine(noise=0.05, drift=0.0)
    found = compare_rounds(*machine.rounds(random.Random(5), 20, 0.05))
    assert found.verdict is Verdict.UNCLEAR
    said, rounds = found.advice.split(" rounds would tell; these are ")
    assert rounds == "20"
    more = int(said.removeprefix("about "))
    assert compare_rounds(*machine.rounds(random.Random(6), 2 * more, 0.05)).verdict is not (
        Verdict.UNCLEAR
    )


def test_a_coarse_timer_asks_for_a_finer_one() -> None:
    found = compare_rounds([5e-6] * 10 + [5.5e-6] * 10, [5e-6] * 8 + [5.5e-6] * 12)
    assert found.verdict is Verdict.UNCLEAR
    assert found.advice == "the timer steps by 9.5%: a larger case, or a finer timer"


def test_a_ratio_at_the_threshold_is_said_to_be_there() -> None:
    machine = Machine(noise=0.0002, outliers=0.0, drift=0.0)
    found = compare_rounds(*machine.rounds(random.Random(5), 60, 0.01001))
    assert found.verdict is Verdict.UNCLEAR
    assert found.advice == "it is too near the threshold of 1.0% to tell"


def test_sides_of_one_run_have_equally_many_rounds() -> None:
    with pytest.raises(InvalidValue, match="2 rounds of one side and 1 of the other"):
        compare_rounds([1.0, 2.0], [1.0])


@pytest.mark.parametrize("compare", [compare_rounds, compare_runs])
@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf])
def test_what_is_no_timing_is_refused(compare: Callable[..., Comparison], wrong: float) -> None:
    with pytest.raises(InvalidValue, match="is not a timing"):
        compare([1.0, 1.0], [1.0, wrong])


@pytest.mark.parametrize("threshold", [0.0, -0.01, math.nan, math.inf])
def test_a_threshold_that_decides_nothing_is_refused(threshold: float) -> None:
    with pytest.raises(InvalidValue, match="decides nothing"):
        compare_rounds([1.0] * 6, [1.0] * 6, threshold)


@pytest.mark.parametrize("case", RECORDED)
def test_what_a_gpu_recorded(case: dict[str, Any]) -> None:
    """`short` is one code twice, of 2 us: what cannot be told may be said so."""
    expected = {
        "same": {Verdict.SAME},
        "slower3": {Verdict.SLOWER},
        "short": {Verdict.SAME, Verdict.UNCLEAR},
    }
    truth = next(expected[name] for name in expected if case["name"].startswith(name))
    assert compare_rounds(case["sides"]["a"], case["sides"]["b"]).verdict in truth
