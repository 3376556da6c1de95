from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from fictl.dataset.builds import Builds
from fictl.dataset.run_plan import EvaluationJob
from fictl.errors import SetupError
from fictl.judge.config import EvalConfig
from fictl.trace import Evaluation, Solution

from .samples import definition, evaluation, solution


def job(name: str, language: str = "cuda") -> EvaluationJob:
    made = solution(name, "d").model_dump(mode="json")
    made["spec"] |= {"language": language, "entry_point": "main.cu::run"}
    made["sources"][0]["path"] = "main.cu"
    return EvaluationJob(
        definition("d"), Solution.model_validate(made), EvalConfig(device="cpu"), 1
    )


class Compiler:
    """`slow` and `bad` are names of solutions."""

    def __init__(self, slow: str = "", bad: str = "", broken: bool = False) -> None:
        self.slow, self.bad, self.broken = slow, bad, broken
        self.built: list[Path] = []

    def build(self, job: EvaluationJob) -> Evaluation | None:
        assert job.scratch is not None
        (job.scratch / "module.so").write_text("")
        self.built.append(job.scratch)
        if self.broken:
            raise SetupError("no compiler")
        if job.solution.name == self.slow:
            time.sleep(0.3)
        return evaluation("COMPILE_ERROR") if job.solution.name == self.bad else None

    def evaluate(self, job: EvaluationJob, workload: object) -> Evaluation:
        raise AssertionError("a compiler evaluates nothing")

    def stop(self) -> None:
        pass

    def close(self) -> None:
        pass


def ran(builds: Builds, *evaluators: Compiler) -> list[str]:
    with builds.running(evaluators):
        return [each.solution.name for each in builds.jobs()]


def test_what_is_not_compiled_runs_while_the_rest_is() -> None:
    jobs = [job("slow"), job("quick", "python")]
    builds = Builds(jobs, 1, lambda *failed: None)
    assert ran(builds, Compiler(slow="slow")) == ["quick", "slow"]


def test_nothing_to_compile_needs_no_compiler() -> None:
    builds = Builds([job("a", "python"), job("b", "triton")], 4, lambda *failed: None)
    assert builds.workers == 0
    assert ran(builds) == ["a", "b"]


def test_what_fails_takes_no_slot() -> None:
    failed: list[str] = []
    builds = Builds([job("bad"), job("good")], 1, lambda one, how: failed.append(one.solution.name))
    assert ran(builds, Compiler(bad="bad")) == ["good"]
    assert failed == ["bad"]


def test_each_is_built_in_a_folder_of_its_own_that_goes_in_the_end() -> None:
    compiler = Compiler()
    builds = Builds([job("a"), job("b")], 1, lambda *failed: None)
    with builds.running([compiler]):
        assert all(one.scratch and (one.scratch / "module.so").exists() for one in builds.jobs())
    assert len({*compiler.built}) == 2
    assert not any(folder.exists() for folder in compiler.built)


def test_compilers_share_the_work_and_slots_the_rest() -> None:
    builds = Builds([job(str(number)) for number in range(12)], 3, lambda *failed: None)
    took: list[str] = []
    with builds.running([Compiler(), Compiler(), Compiler()]):
        slots = [
            threading.Thread(target=lambda: took.extend(j.solution.name for j in builds.jobs()))
            for _ in range(2)
        ]
        for slot in slots:
            slot.start()
        for slot in slots:
            slot.join()
    assert sorted(took, key=int) == [str(number) for number in range(12)]


def test_a_machine_without_a_compiler_ends_the_run() -> None:
    builds = Builds([job("a")], 1, lambda *failed: None)
    assert ran(builds, Compiler(broken=True)) == []
    with pytest.raises(SetupError, match="no compiler"):
        raise builds.problem or AssertionError
