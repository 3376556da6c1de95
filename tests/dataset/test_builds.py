from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fictl.child.lost import Lost
from fictl.dataset.builds import Builds
from fictl.dataset.evaluation_work import EvaluationTask
from fictl.dataset.run_plan import EvaluationJob
from fictl.errors import SetupError
from fictl.farm.place import Place
from fictl.farm.task_queue import Batch, TaskQueue
from fictl.judge.config import EvalConfig
from fictl.trace import Evaluation, Solution

from .samples import definition, evaluation, solution, workload


def job(name: str, language: str = "cuda", binding: str | None = None) -> EvaluationJob:
    made = solution(name, "d").model_dump(mode="json")
    made["spec"] |= {"language": language, "entry_point": "main.cu::run", "binding": binding}
    made["sources"][0]["path"] = "main.cu"
    return EvaluationJob(
        definition("d"), Solution.model_validate(made), EvalConfig(device="cpu"), 1
    )


class Compiler:
    """`slow` and `bad` are names of solutions."""

    def __init__(self, slow: str = "", bad: str = "", broken: bool = False) -> None:
        self.slow, self.bad, self.broken = slow, bad, broken
        self.built: list[Path] = []

    def prepare(self, device: str, waits: object) -> None:
        pass

    def build(self, job: EvaluationJob) -> Evaluation | None:
        assert job.scratch is not None
        (job.scratch / "module.so").write_text("")
        self.built.append(job.scratch)
        if self.broken:
            raise SetupError("no compiler")
        if job.solution.name == self.slow:
            time.sleep(0.3)
        return evaluation("COMPILE_ERROR") if job.solution.name == self.bad else None

    def evaluate(self, job: EvaluationJob, workload: object, waits: bool = True) -> Evaluation:
        raise AssertionError("a compiler evaluates nothing")

    def stop(self) -> None:
        pass

    def close(self) -> None:
        pass


Failed = Callable[[EvaluationJob, object], object]


def none_fails(job: EvaluationJob, failure: object) -> None:
    raise AssertionError(failure)


class Run:
    """Builds, and the queue that they fill for one place."""

    def __init__(
        self, jobs: list[EvaluationJob], at_once: int, failed: Failed = none_fails
    ) -> None:
        self.queue: TaskQueue[EvaluationTask] = TaskQueue(
            {"": len(jobs)}, {name: Place(name) for name in "ab"}
        )

        def ended(one: EvaluationJob, failure: object) -> None:
            failed(one, failure)
            self.queue.end("")

        self.builds = Builds(jobs, at_once, self.queue, self._built, ended)

    def _built(self, one: EvaluationJob) -> None:
        task = EvaluationTask(one, workload("w"))
        self.queue.add(Batch(iter([task]), 1))

    def jobs(self, place: str = "a") -> Iterator[EvaluationJob]:
        while (task := self.queue.take(place)) is not None:
            yield task.work.job
            self.queue.end("")

    def ran(self, *evaluators: Compiler) -> list[str]:
        with self.builds.running(evaluators):
            return [each.solution.name for each in self.jobs()]


def test_what_is_not_compiled_runs_while_the_rest_is() -> None:
    jobs = [job("slow"), job("quick", "python")]
    assert Run(jobs, 1).ran(Compiler(slow="slow")) == ["quick", "slow"]


def test_nothing_to_compile_needs_no_compiler() -> None:
    run = Run([job("a", "python"), job("b", "triton")], 4)
    assert run.builds.workers == 0
    assert run.ran() == ["a", "b"]


def test_what_fails_takes_no_slot() -> None:
    failed: list[str] = []
    run = Run([job("bad"), job("good")], 1, lambda one, how: failed.append(one.solution.name))
    assert run.ran(Compiler(bad="bad")) == ["good"]
    assert failed == ["bad"]


def test_extensions_are_built_in_folders_of_their_own_that_go_in_the_end() -> None:
    compiler = Compiler()
    run = Run([job("a", binding="torch"), job("b", binding="torch")], 1)
    with run.builds.running([compiler]):
        assert all(one.scratch and (one.scratch / "module.so").exists() for one in run.jobs())
    assert len({*compiler.built}) == 2
    assert not any(folder.exists() for folder in compiler.built)


def test_what_the_runs_builder_keeps_needs_no_folder() -> None:
    compiler = Compiler()
    run = Run([job("a")], 1)
    with run.builds.running([compiler]):
        assert [one.scratch for one in run.jobs()] == [None]
        assert not compiler.built[0].exists()


def test_compilers_share_the_work_and_slots_the_rest() -> None:
    run = Run([job(str(number)) for number in range(12)], 3)
    took: list[str] = []

    def work(place: str) -> None:
        took.extend(each.solution.name for each in run.jobs(place))

    with run.builds.running([Compiler(), Compiler(), Compiler()]):
        slots = [threading.Thread(target=work, args=(place,)) for place in ("a", "b")]
        for slot in slots:
            slot.start()
        for slot in slots:
            slot.join()
    assert sorted(took, key=int) == [str(number) for number in range(12)]


def test_a_machine_without_a_compiler_ends_the_run() -> None:
    run = Run([job("a")], 1)
    assert run.ran(Compiler(broken=True)) == []
    with pytest.raises(SetupError, match="no compiler"):
        raise run.builds.problem or AssertionError


@pytest.mark.parametrize(("losses", "ran"), [(2, ["a"]), (3, [])])
def test_a_build_that_is_lost_is_done_again_and_given_up_without_a_verdict(
    losses: int, ran: list[str]
) -> None:
    class Dying(Compiler):
        def build(self, job: EvaluationJob) -> Evaluation | None:
            if len(self.built) < losses:
                self.built.append(Path())
                raise Lost("its process ended with SIGKILL")
            return None

    failures: list[object] = []
    run = Run([job("a")], 1, lambda one, how: failures.append(how))
    assert run.ran(Dying()) == ran
    assert [type(failure) for failure in failures] == ([] if ran else [Lost])
