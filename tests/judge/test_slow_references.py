"""References that take long: they are called as often as the checks promise, and cheating stays in vain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fictl.judge import Judge
from fictl.judge.reference import Reference
from fictl.trace import Evaluation

from .judge_runs import CONFIG, WORKLOAD, definition, said, solution

SECONDS = 0.12
SLOW = f"""
import time
def run(x, s):
    time.sleep({SECONDS})
    return x * s
"""
# Each evaluation has dozens of calls.
MANY = replace(
    CONFIG, device="emu", iterations=50, num_trials=3, warmup_runs=10, profile_baseline=False
)
HONEST = "def run(x, s):\n    return x * s\n"
AFTER = """
calls = 0
def run(x, s):
    global calls
    calls += 1
    return x * s if calls <= 10 else x * 0
"""
BY_CHANCE = """
import random, time
import torch
def run(x, s):
    if random.random() < 0.5:
        return torch.zeros_like(x)
    time.sleep(0.01)
    return x * s
"""


@pytest.fixture(scope="module")
def slow() -> Iterator[Reference]:
    with Reference(definition(SLOW), "emu") as made:
        yield made


def judged(source: str, reference: Reference) -> Evaluation:
    with Judge(reference.definition, solution(source), MANY, reference=reference) as judge:
        return judge.evaluate(WORKLOAD)


def test_it_is_called_few_times_but_for_the_rounds_that_are_promised(slow: Reference) -> None:
    found = judged(HONEST, slow)
    assert found.status.value == "PASSED", said(found)
    assert found.fictl is not None
    assert MANY.correctness_rounds <= found.fictl["checked"] <= 9
    assert found.fictl["turns"]["checks"] < 9 * 2 * SECONDS
    assert found.fictl["turns"]["count"] >= 50


def test_a_solution_that_skips_its_work_after_the_warm_up_is_found(slow: Reference) -> None:
    found = judged(AFTER, slow)
    assert found.status.value == "INCORRECT_NUMERICAL", said(found)


def test_calls_that_were_not_checked_have_no_part_in_the_time(slow: Reference) -> None:
    for _ in range(6):
        found = judged(BY_CHANCE, slow)
        assert found.status.value in ("PASSED", "INCORRECT_NUMERICAL"), said(found)
        if found.performance is not None:
            assert found.performance.latency_ms >= 10


def test_a_reference_that_turns_slow_is_not_checked_with_for_long() -> None:
    turns_slow = f"""
import time
begun = time.monotonic()
def run(x, s):
    if time.monotonic() - begun > 0.3:
        time.sleep({SECONDS})
    return x * s
"""
    with Reference(definition(turns_slow), "emu") as reference:
        found = judged(HONEST, reference)
    assert found.status.value == "PASSED", said(found)
    assert found.fictl is not None
    assert found.fictl["turns"]["checks"] < 25 * SECONDS
    assert found.fictl["checked"] >= MANY.correctness_rounds
