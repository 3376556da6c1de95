"""Evaluations that took long are begun first, as far as results tell."""

from __future__ import annotations

from typing import Any

import pytest

from fictl.dataset.durations import Durations, longest_first
from fictl.dataset.previous import BUILD_SECONDS, SECONDS
from fictl.dataset.run_plan import EvaluationJob
from fictl.farm.place import Place
from fictl.judge.config import EvalConfig
from fictl.trace import Evaluation, Trace, TraceSet, Workload

from .samples import definition, evaluation, run, solution, workload

JOBS = [("scale", "scale_a", 3), ("scale", "scale_b", 3), ("mm", "mm_a", 1)]


def jobs() -> list[EvaluationJob]:
    config = EvalConfig(device="cpu")
    return [
        EvaluationJob(definition(of), solution(name, of), config, count) for of, name, count in JOBS
    ]


def names(found: list[EvaluationJob]) -> list[str]:
    return [job.solution.name for job in found]


def record(dataset: TraceSet, of: str, name: str, seconds: float, **more: Any) -> None:
    facts = {"solution_hash": solution(name, of).hash(), "device": "cpu", SECONDS: seconds, **more}
    result = evaluation().model_copy(update={"fictl": facts})
    trace = Trace(definition=of, workload=workload("s0"), solution=name, evaluation=result)
    dataset.add_traces([trace])


def test_nothing_known_changes_nothing(dataset: TraceSet) -> None:
    assert names(longest_first(jobs(), Durations(dataset, "cpu").expected)) == [
        "scale_a",
        "scale_b",
        "mm_a",
    ]


def test_the_longest_comes_first_and_a_definition_stays_together(dataset: TraceSet) -> None:
    record(dataset, "scale", "scale_a", 1.0)
    record(dataset, "scale", "scale_b", 2.0)
    record(dataset, "mm", "mm_a", 5.0)
    known = Durations(dataset, "cpu")
    assert [known.expected(job) for job in jobs()] == [3.0, 6.0, 5.0]
    assert names(longest_first(jobs(), known.expected)) == ["scale_b", "scale_a", "mm_a"]


def test_a_long_build_counts(dataset: TraceSet) -> None:
    record(dataset, "scale", "scale_a", 1.0)
    record(dataset, "mm", "mm_a", 1.0, **{BUILD_SECONDS: 60.0})
    found = longest_first(jobs(), Durations(dataset, "cpu").expected)
    assert names(found)[0] == "mm_a"


def test_an_edited_solution_is_expected_to_take_what_others_did(dataset: TraceSet) -> None:
    record(dataset, "scale", "scale_b", 4.0)
    assert Durations(dataset, "cpu").expected(jobs()[0]) == 12.0


@pytest.mark.parametrize("hardware", [("NVIDIA_B200",), ("NVIDIA_H200",)])
def test_only_times_of_this_hardware_count(dataset: TraceSet, hardware: tuple[str, ...]) -> None:
    record(dataset, "mm", "mm_a", 5.0)  # On an H200, as samples say.
    expected = Durations(dataset, "cpu", hardware).expected(jobs()[2])
    assert expected == (5.0 if "H200" in hardware[0] else 0.0)


def test_only_times_of_this_device_count(dataset: TraceSet) -> None:
    record(dataset, "mm", "mm_a", 5.0)
    assert Durations(dataset, "emu").expected(jobs()[2]) == 0.0


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"evaluation": {"fictl": 1}}', '"\\ud800"', "[" * 9999]
)
def test_lines_that_tell_nothing_are_passed_over(dataset: TraceSet, line: str) -> None:
    record(dataset, "mm", "mm_a", 5.0)
    path = next(dataset.root.rglob("traces/**/*.jsonl"))
    path.write_text(f"{line}\n{path.read_text()}{line}\n")
    assert Durations(dataset, "cpu").expected(jobs()[2]) == 5.0


@pytest.mark.parametrize("seconds", [-1, 1e300, "long", None, [5]])
def test_impossible_times_are_none(dataset: TraceSet, seconds: object) -> None:
    record(dataset, "mm", "mm_a", seconds)  # type: ignore[arg-type]
    assert Durations(dataset, "cpu").expected(jobs()[2]) == 0.0


def test_the_end_of_a_long_file_is_enough(
    dataset: TraceSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(20):
        record(dataset, "mm", "mm_a", 1.0)
    record(dataset, "mm", "mm_a", 5.0)
    line = max(map(len, next(dataset.root.rglob("traces/**/*.jsonl")).read_text().splitlines()))
    monkeypatch.setattr("fictl.dataset.durations._MOST_READ", line + 2)
    assert Durations(dataset, "cpu").expected(jobs()[2]) == 5.0


def test_a_run_hands_out_the_longest_known_first(dataset: TraceSet) -> None:
    record(dataset, "scale", "scale_b", 9.0)
    began: list[str] = []

    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        began.append(job.solution.name)
        return evaluation()

    run(dataset, judge, save=False, slots=(Place("0", hardware="NVIDIA_H200"),))
    assert began[-1] == "mm_a"
    began.clear()
    run(dataset, judge, save=False, slots=(Place("0", hardware="NVIDIA_B200"),))
    assert began[0] == "mm_a"
