"""Times of references, shared by the processes of a run at one place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fictl.judge import Judge, baseline_times
from fictl.judge.baseline import Baseline
from fictl.judge.baseline_times import BaselineTime, BaselineTimes, key_of
from fictl.judge.call_time import CallTime
from fictl.judge.reference import Reference
from fictl.trace import Evaluation, Workload

from .judge_runs import CONFIG, REFERENCE, WORKLOAD, definition, said, solution

HONEST = "def run(x, s):\n    return x * s\n"
# It wants the reference of the next solutions to be slow: for the judge, and as far as it gets.
SLOWS = """
import os, time
for name in ("time", "perf_counter", "monotonic"):
    setattr(time, name, lambda: 0.0)
if os.fork() == 0:
    while True:
        pass
def run(x, s):
    return x * s
"""


def evaluated(times: BaselineTimes, source: str = HONEST, reference: str = REFERENCE) -> Evaluation:
    with (
        Reference(definition(reference), "cpu", times=times) as one,
        Judge(one.definition, solution(source), CONFIG, reference=one) as judge,
    ):
        return judge.evaluate(WORKLOAD)


def baseline_of(evaluation: Evaluation) -> float:
    assert evaluation.performance is not None, said(evaluation)
    return evaluation.performance.reference_latency_ms


def test_a_reference_is_timed_once_for_all_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = iter([CallTime(0.125, 0.1, 0.1, 0.0, True), CallTime(0.25, 0.1, 0.1, 0.0, True)])
    monkeypatch.setattr(Baseline, "_on_host", lambda self, config: [next(measured)])
    times = BaselineTimes()
    assert [baseline_of(evaluated(times)) for _ in range(2)] == [125, 125]
    assert baseline_of(evaluated(BaselineTimes())) == 250


def test_a_solution_that_cheats_leaves_no_time_of_a_reference() -> None:
    times = BaselineTimes()
    cheats = evaluated(times, SLOWS)
    assert cheats.status.value == "REWARD_HACK", said(cheats)
    assert not times._known
    slow = REFERENCE.replace("return", "import time; time.sleep(0.1); return")
    assert baseline_of(evaluated(times)) < 50
    assert baseline_of(evaluated(times, reference=slow)) >= 100


def test_all_that_decides_a_time_is_in_its_key() -> None:
    one = definition()
    other = Workload.model_validate({**WORKLOAD.model_dump(mode="json"), "axes": {"m": 17}})
    keys = [
        key_of(one, WORKLOAD, CONFIG),
        key_of(definition(REFERENCE + "#"), WORKLOAD, CONFIG),
        key_of(one, other, CONFIG),
        *(
            key_of(one, WORKLOAD, replace(CONFIG, **change))
            for change in ({"device": "emu"}, {"iterations": 4}, {"num_trials": 2})
        ),
    ]
    assert len({*keys}) == len(keys)
    assert key_of(one, WORKLOAD, replace(CONFIG, rtol=0.5)) == keys[0]


def test_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline_times, "_MOST", 2)
    times, time = BaselineTimes(), BaselineTime(CallTime(1.0, 1.0, 1.0, 0.0, True), {})
    for key in "abc":
        times.keep(key, time)
    assert [times.find(key) for key in "abc"] == [None, time, time]
