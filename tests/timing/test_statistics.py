"""Statistics of timings, against values worked out by hand and against the exact binomial."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest

from fictl.errors import InvalidValue
from fictl.timing import statistics


def test_the_median_of_an_even_number_lies_between_the_middle_two() -> None:
    assert statistics.median([4.0, 1.0, 3.0, 2.0]) == 2.5


def test_one_sample_has_no_spread() -> None:
    assert statistics.std([2.0]) == statistics.stdrel([2.0]) == 0.0


def test_std_is_that_of_a_sample() -> None:
    assert statistics.std([1.0, 3.0]) == pytest.approx(math.sqrt(2))


def test_stdrel_is_the_relative_sigma_of_normal_noise() -> None:
    sigmas = NormalDist(10.0, 0.1)
    x = [sigmas.inv_cdf((i + 0.5) / 400) for i in range(400)]
    assert statistics.stdrel(x) == pytest.approx(0.01, rel=0.01)


def test_an_outlier_does_not_change_stdrel() -> None:
    calm = [1.0, 1.1, 1.2, 1.3, 1.4]
    assert statistics.stdrel([*calm[:-1], 100.0]) == pytest.approx(statistics.stdrel(calm))


@pytest.mark.parametrize(("count", "left_out"), [(6, 0), (9, 1), (15, 3), (20, 5), (100, 39)])
def test_the_interval_is_that_of_the_exact_binomial(count: int, left_out: int) -> None:
    x = [float(i) for i in range(1, count + 1)]
    assert statistics.interval(x) == (x[left_out], x[-1 - left_out])


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_no_interval_promises_more_than_the_binomial(confidence: float) -> None:
    for count in range(1, 301):
        x = [float(i) for i in range(1, count + 1)]
        outside = int(statistics.interval(x, confidence)[0]) - 1
        missed = 2 * sum(math.comb(count, i) for i in range(outside + 1)) / 2**count
        assert outside == 0 or missed <= 1 - confidence


def test_the_interval_of_few_samples_is_all_of_them() -> None:
    assert statistics.interval([3.0, 1.0, 2.0]) == (1.0, 3.0)


def test_resolution_is_the_step_of_the_readings() -> None:
    assert statistics.resolution([5.0, 5.5, 5.0], [6.5, 5.5]) == pytest.approx(0.5)


def test_how_a_float_was_rounded_is_no_resolution() -> None:
    assert statistics.resolution([0.1 + 0.2, 0.3, 0.5]) == pytest.approx(0.2)


def test_equal_readings_show_no_resolution() -> None:
    assert statistics.resolution([5.0, 5.0], [5.0]) == 0.0


def test_the_noise_floor_is_half_the_interval() -> None:
    x = [1.0 + i / 100 for i in range(6)]
    assert statistics.noise_floor(x) == pytest.approx(0.025 / 1.025)


def test_the_noise_floor_is_not_below_the_step_of_the_timer() -> None:
    assert statistics.noise_floor([5.0] * 20 + [5.5]) == pytest.approx(0.1)


@pytest.mark.parametrize("function", ["median", "std", "stdrel", "interval", "noise_floor"])
@pytest.mark.parametrize(
    ("x", "said"),
    [
        ([], "no timing was given"),
        ([1.0, 0.0], "0.0 s is not a timing"),
        ([1.0, -2.0], "-2.0 s"),
        ([math.nan], "nan s"),
        ([math.inf, 1.0], "inf s"),
    ],
)
def test_what_is_no_timing_is_refused(function: str, x: list[float], said: str) -> None:
    with pytest.raises(InvalidValue, match=said):
        getattr(statistics, function)(x)
