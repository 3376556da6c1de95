"""Tolerances that a bench.py gives to its baseline."""

from __future__ import annotations

import pytest

from fictl.bench import tolerant
from fictl.bench.worker.sides import baseline
from fictl.errors import FictlError


def test_a_baseline_has_the_tolerances_that_its_author_gives_it() -> None:
    side = baseline("fp8", tolerant(lambda input: input, bf16=(0.1, 0.2)))
    assert side.tolerances == {"bfloat16": (0.1, 0.2)}
    assert baseline("torch", lambda input: input).tolerances is None


def test_it_is_called_as_it_was() -> None:
    assert tolerant(lambda input, factor: input * factor, f32=(0, 0))(input=2, factor=3) == 6


@pytest.mark.parametrize(
    "tolerances", [{"f33": (0, 0)}, {"f32": (1,)}, {"f32": (-1, 0)}, {"f32": (float("nan"), 0)}]
)
def test_what_is_no_tolerance_is_refused(tolerances) -> None:
    with pytest.raises(FictlError):
        tolerant(lambda: None, **tolerances)
