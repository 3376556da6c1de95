"""The order of an evaluation on a GPU: nothing is timed beside anything else, and no solution's process
runs while the reference is timed. Processes are stand-ins: no GPU is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fictl.judge import Judge
from fictl.judge.inside.roles import SOLUTION
from fictl.judge.judge_outcome import JudgeOutcome
from fictl.judge.reference import Opened
from fictl.judge.solution_trial import SolutionTrial
from fictl.trace import Workload

from .judge_runs import CONFIG, WORKLOAD, definition, solution

GPU = replace(CONFIG, device="cuda")
OTHER = Workload.model_validate({**WORKLOAD.model_dump(mode="json"), "uuid": "other"})


class Happened:
    """Records what is called, as stand-ins for spares, a reference, its baseline and a process."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.environment: dict[str, Any] = {}
        self.turn_parts: dict[str, float] = {}
        self.known: set[str] = set()
        self.uuid = ""
        self.baseline = SimpleNamespace(
            knows=lambda style: self.uuid in self.known,
            overhead=self._overhead,
            call_time=lambda config: self.steps.append("baseline timed"),
        )

    def _overhead(self, style: str) -> None:
        self.known.add(self.uuid)
        self.steps.append("overhead")

    def open(self, workload: Workload, config: Any) -> Opened:
        self.uuid = workload.uuid
        self.steps.append("opened")
        return Opened(64, 1e-5, 3, "default", True)

    def has_met(self, process: Any) -> bool:
        return True

    def take(self, role: str) -> None:
        assert role == SOLUTION
        self.steps.append("solution starts")

    def refill(self) -> None:
        self.steps.append("next start")

    def depart(self) -> None:
        self.steps.append("last gone")

    @contextmanager
    def quiet(self) -> Iterator[None]:
        self.steps.append("quiet")
        yield
        self.steps.append("loud")

    def retire(self, process: Any, folder: Path | None) -> None:
        if process is not None:
            process.close()

    def process(self, *_: Any, **__: Any) -> SimpleNamespace:
        return SimpleNamespace(
            policy="none",
            desk=SimpleNamespace(seconds=0.0),
            log=SimpleNamespace(take=str),
            printed=SimpleNamespace(hear=lambda: None),
            close=lambda: self.steps.append("solution gone"),
        )


@pytest.fixture
def happened(monkeypatch: pytest.MonkeyPatch) -> Happened:
    made = Happened()
    monkeypatch.setattr("fictl.judge.solution_judge.start", made.process)
    monkeypatch.setattr(Judge, "_build", lambda self, process: setattr(self, "_is_built", True))

    def evaluated(trial: SolutionTrial) -> JudgeOutcome:
        with trial.quiet():
            made.steps.append("solution timed")
        return JudgeOutcome(seconds=1e-5)

    monkeypatch.setattr(SolutionTrial, "evaluate", evaluated)
    return made


def judge(happened: Happened) -> Judge:
    fakes: Any = happened
    tried = solution("def run(x, s):\n    return x * s\n")
    return Judge(definition(), tried, GPU, reference=fakes, spares=fakes)


def test_the_reference_is_timed_in_quiet_before_the_solution_starts(happened: Happened) -> None:
    judge(happened).evaluate(WORKLOAD)
    assert happened.steps == [
        *("next start", "last gone", "opened"),
        *("quiet", "overhead", "baseline timed", "loud"),
        *("solution starts", "next start", "quiet", "solution timed", "loud", "solution gone"),
    ]


def test_a_solution_has_gone_before_the_reference_of_its_next_workload_is_timed(
    happened: Happened,
) -> None:
    """If the reference had to be timed, it has to be again: the process ends before that is asked for."""
    one = judge(happened)
    one.evaluate(WORKLOAD)
    assert happened.steps[-1] == "solution gone"
    happened.steps.clear()
    one.evaluate(OTHER)
    assert happened.steps.index("last gone") < happened.steps.index("opened")
    assert happened.steps.index("baseline timed") < happened.steps.index("solution starts")


def test_a_solution_that_stayed_goes_before_a_reference_is_timed(happened: Happened) -> None:
    judge(happened).evaluate(WORKLOAD)
    one = judge(happened)
    one.evaluate(WORKLOAD)
    assert happened.steps[-1] == "loud"
    happened.steps.clear()
    one.evaluate(OTHER)
    assert happened.steps.index("solution gone") < happened.steps.index("overhead")


def test_what_other_solutions_know_of_the_reference_is_not_timed_again(happened: Happened) -> None:
    judge(happened).evaluate(WORKLOAD)
    happened.steps.clear()
    judge(happened).evaluate(WORKLOAD)
    assert "baseline timed" not in happened.steps
    assert happened.steps[:3] == ["next start", "last gone", "opened"]
