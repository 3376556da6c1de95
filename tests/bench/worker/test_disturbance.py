from __future__ import annotations

import pytest

from fictl.bench.observer import BenchObserver
from fictl.bench.options import BenchOptions
from fictl.bench.worker.disturbance import Disturbance
from fictl.bench.worker.op_worker import of_folder
from fictl.bench.worker.sides import baseline
from fictl.case.contender import own
from fictl.case.trial import CaseTrial
from fictl.case.workload import TrialWorkload
from fictl.project import OpFolder


@pytest.fixture
def trials(hostile: OpFolder) -> list[CaseTrial]:
    ((subject, case, _),) = of_folder(hostile, ["right"], BenchOptions(case="-64"))
    work = TrialWorkload(subject, case, "cpu")
    made = [
        CaseTrial(own(subject), work),
        CaseTrial(baseline("torch", lambda input: input + input), work),
    ]
    for trial in made:
        for copy in range(3):
            trial.copy(copy)()
    return made


def test_the_last_copy_is_disturbed_after_the_first_round(trials: list[CaseTrial]) -> None:
    disturbance = Disturbance(trials, BenchObserver())
    disturbance(1)
    assert disturbance.index == 2
    assert trials[0].prepared[2].outputs["out"].isnan().all()
    assert not trials[0].prepared[1].outputs["out"].isnan().any()
    assert trials[1].prepared[2].result.isnan().all()


def test_what_is_computed_in_later_rounds_is_right(trials: list[CaseTrial]) -> None:
    disturbance = Disturbance(trials, BenchObserver())
    disturbance(1)
    for trial in trials:
        trial.copy(2)()
    disturbance(2)
    assert [disturbance.problem(trial) for trial in trials] == ["", ""]


def test_what_is_not_computed_again_is_found(trials: list[CaseTrial]) -> None:
    disturbance = Disturbance(trials, BenchObserver())
    disturbance(1)
    disturbance(2)
    assert disturbance.problem(trials[0]) == "it wrote nothing to out"
    assert "64 of 64 elements differ" in disturbance.problem(trials[1])


@pytest.mark.parametrize("rounds", [0, 1])
def test_where_no_round_followed_a_call_is_made(trials: list[CaseTrial], rounds: int) -> None:
    disturbance = Disturbance(trials, BenchObserver())
    for number in range(rounds):
        disturbance(number + 1)
    assert [disturbance.problem(trial) for trial in trials] == ["", ""]
