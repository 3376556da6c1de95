"""A place that fails, told from a solution that does."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.child.lost import Lost, NotStarted
from fictl.dataset.evaluator import Evaluator, ProcessEvaluator
from fictl.dataset.run_jobs import run_dataset
from fictl.dataset.run_options import RunOptions
from fictl.dataset.run_plan import EvaluationJob
from fictl.dataset.sound import NAME, why_unsound
from fictl.farm.place import Place
from fictl.judge.config import EvalConfig
from fictl.trace import Evaluation, TraceSet, Workload
from tests.farm.scripts import script

from .samples import FakeEvaluator, evaluation, run, saved


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fictl.farm.station._PAUSE_SECONDS", 0.01)


class Killers:
    """Judges all but what some solutions, or some places, kill; counts what was asked for."""

    def __init__(self, solutions: str = "", places: str = "", sample: str = "PASSED") -> None:
        self.solutions, self.places = solutions.split(), places.split()
        self.sample = sample
        self.asked: Counter[tuple[str, str]] = Counter()

    def __call__(self, job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        self.asked[job.solution.name, slot.name] += 1
        if slot.name in self.places or job.solution.name in self.solutions:
            raise Lost("its process ended with SIGKILL")
        return evaluation(self.sample if job.solution.name == NAME else "PASSED")


def test_what_ends_three_processes_of_a_sound_place_failed(dataset: TraceSet) -> None:
    killers = Killers("mm_a")
    summary = run(dataset, killers, solutions=("mm_a", "scale_a"))
    assert dict(summary.statuses) == {"RUNTIME_ERROR": 1, "PASSED": 3}
    assert killers.asked["mm_a", "cpu"] == 3
    assert killers.asked[NAME, "cpu"] == 1
    (log,) = [t.evaluation.log for t in saved(dataset) if t.evaluation and t.evaluation.log]
    assert log == (
        "it was lost 3 times (at cpu, cpu, cpu), and a sample is judged right there: "
        "its process ended with SIGKILL"
    )
    assert run(dataset, resume=True).skipped == 4


def test_a_solution_that_ends_every_process_is_given_up_after_two_workloads(
    dataset: TraceSet,
) -> None:
    summary = run(dataset, Killers("scale_a"), solutions=("scale_a",))
    assert dict(summary.statuses) == {"RUNTIME_ERROR": 2}
    assert summary.left_out == ("scale  scale_a: 2 lost processes; 1 more workload left out",)
    assert summary.undone == 0


def test_one_loss_is_nobodys_fault(dataset: TraceSet) -> None:
    lost = iter([True, False, True, False])

    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        if next(lost, False):
            raise Lost("its process ended with SIGKILL")
        return evaluation()

    assert dict(run(dataset, judge).statuses) == {"PASSED": 7}
    assert len(saved(dataset)) == 7


@pytest.mark.parametrize("sample", ["lost", "RUNTIME_ERROR"])
def test_a_place_that_loses_everything_brands_no_solution(dataset: TraceSet, sample: str) -> None:
    killers = Killers("mm_a scale_a scale_b" + f" {NAME}" * (sample == "lost"), sample=sample)
    summary = run(dataset, killers)
    assert (dict(summary.statuses), summary.undone, saved(dataset)) == ({}, 7, [])
    first, last = summary.left_out
    assert first.startswith("place cpu left out: its process ended with SIGKILL; a sample is not")
    assert last == "7 evaluations not done: no place was left"
    assert dict(run(dataset, resume=True).statuses) == {"PASSED": 7}


def test_what_one_place_loses_another_does(dataset: TraceSet) -> None:
    killers = Killers(places="bad")
    summary = run(dataset, killers, places=("bad", "good"))
    assert dict(summary.statuses) == {"PASSED": 7}
    assert summary.undone == 0
    # After three losses in a row a sample is not judged there either.
    assert (
        sum(n for (name, slot), n in killers.asked.items() if slot == "bad" and name != NAME) <= 3
    )


def test_three_places_that_lose_a_workload_make_it_a_result(dataset: TraceSet) -> None:
    killers = Killers("mm_a")
    summary = run(dataset, killers, places=("1", "2", "3", "4"), solutions=("mm_a",))
    assert dict(summary.statuses) == {"RUNTIME_ERROR": 1}
    assert sorted(n for (name, _), n in killers.asked.items() if name == "mm_a") == [1, 1, 1]


def test_a_place_that_does_not_start_is_left_out_and_named(dataset: TraceSet) -> None:
    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        if slot.name == "bad":
            raise NotStarted("its process did not start (exit code 127)", "it is not there")
        return evaluation()

    summary = run(dataset, judge, places=("bad", "good"))
    assert dict(summary.statuses) == {"PASSED": 7}
    assert set(summary.left_out) <= {
        "place bad left out: its process did not start (exit code 127) (it is not there)"
    }


def test_where_no_place_starts_nothing_is_written_and_all_is_resumed(dataset: TraceSet) -> None:
    """The real evaluator, whose command is not there."""

    def broken(root: Path, slot: Place) -> Evaluator:
        return ProcessEvaluator(root, replace(slot, python="nowhere/python"))

    asked = RunOptions(device="cpu")
    summary = run_dataset(dataset.root, asked, None, broken, (Place("a"), Place("b")))
    assert (summary.outcomes, summary.undone, saved(dataset)) == ([], 7, [])
    assert "exit code 127" in summary.left_out[0]
    assert "nowhere/python" in summary.left_out[0]
    assert not summary.faults
    assert len(run(dataset, resume=True).outcomes) == 7


def test_a_place_that_starts_at_the_second_try_is_used(dataset: TraceSet) -> None:
    fails = iter([True])

    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        if next(fails, False):
            raise NotStarted("too many processes")
        return evaluation()

    summary = run(dataset, judge)
    assert (dict(summary.statuses), summary.left_out) == ({"PASSED": 7}, ())


_KILLS = """
import os, signal
{real}
def killed(self, workload):
    job = json.loads(self._job.solution)["name"]
    if job == "mm_a":
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, workload)
real = JudgeServer.evaluate
JudgeServer.evaluate = killed
sys.exit(main())
"""


def test_the_real_worker_is_lost_three_times_and_then_judges_the_sample(
    dataset: TraceSet, tmp_path: Path
) -> None:
    code = _KILLS.format(real="import json, sys\nfrom fictl.farm.worker import JudgeServer, main")

    def dying(root: Path, slot: Place) -> Evaluator:
        return ProcessEvaluator(root, replace(slot, python=script(tmp_path, code)))

    flags = {"iterations": 1, "warmup_runs": 1, "num_trials": 1}
    asked = RunOptions(device="cpu", solutions=("mm_a",), flags=flags)
    summary = run_dataset(dataset.root, asked, None, dying)
    assert dict(summary.statuses) == {"RUNTIME_ERROR": 1}
    (trace,) = saved(dataset)
    assert trace.evaluation is not None
    assert "SIGKILL" in trace.evaluation.log
    assert trace.evaluation.environment.hardware == f"CPU_{os.uname().machine}"
    line = next(dataset.root.rglob("traces/**/*.jsonl")).read_text()
    assert json.loads(line)["evaluation"]["fictl"]["lost"] == ["cpu", "cpu", "cpu"]


def test_a_sound_place_judges_the_sample_right(dataset: TraceSet) -> None:
    evaluator = ProcessEvaluator(dataset.root, Place("cpu"))
    try:
        assert why_unsound(evaluator, EvalConfig(device="cpu")) == ""
    finally:
        evaluator.close()


def test_the_reason_of_an_unsound_place_is_in_words() -> None:
    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        return evaluation("RUNTIME_ERROR", log="CUDA error: an illegal access\nat line 1")

    bad = FakeEvaluator(Place("0"), judge)
    config = EvalConfig(device="cpu")
    assert why_unsound(bad, config) == "RUNTIME_ERROR CUDA error: an illegal access"
