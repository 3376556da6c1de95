"""Builds of a run: compiled solutions are built by other processes, before they get a GPU."""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.child.lost import Lost
from fictl.dataset.evaluation_work import Tasks
from fictl.dataset.evaluator import Evaluator
from fictl.farm.serve.building import CORES_EACH
from fictl.farm.station import Stopped
from fictl.jit.jobs import usable_cores
from fictl.judge.fault import JudgeFault, own_faults
from fictl.judge.process.scratch import new_scratch
from fictl.removal import remove

if TYPE_CHECKING:
    from fictl.dataset.run_plan import EvaluationJob
    from fictl.trace import Evaluation

_MOST_LOSSES = 3

Failed = Callable[["EvaluationJob", "Evaluation | JudgeFault | Lost"], object]


class Builds:
    """Passes on each job to `built`, once it is; `failed` receives the others.

    is_built_here: tells whether to build a job, or to pass it on as it is.
    """

    def __init__(
        self,
        jobs: Sequence[EvaluationJob],
        at_once: int,
        tasks: Tasks,
        built: Callable[[EvaluationJob], object],
        failed: Failed,
        is_built_here: Callable[[EvaluationJob], bool] = lambda job: job.is_compiled,
    ) -> None:
        self._failed, self._tasks, self._built = failed, tasks, built
        self._to_build: queue.SimpleQueue[EvaluationJob] = queue.SimpleQueue()
        self.problem: BaseException | None = None
        for job in jobs:
            if is_built_here(job):
                self._to_build.put(job)
            else:
                built(job)
        count = self._to_build.qsize()
        self.workers = min(count, at_once or max(1, usable_cores() // CORES_EACH))

    @contextmanager
    def running(self, evaluators: Sequence[Evaluator]) -> Iterator[None]:
        """Build with these evaluators; the builds are removed at the end."""
        folder = new_scratch("builds") if evaluators else None
        threads = [
            threading.Thread(target=self._work, args=(evaluator, folder), daemon=True)
            for evaluator in evaluators
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._tasks.close()
            for evaluator in evaluators:
                evaluator.stop()
            for thread in threads:
                thread.join()
            if folder is not None:
                remove(folder)

    def _work(self, evaluator: Evaluator, folder: Path) -> None:
        try:
            while not self._tasks.is_closed:
                self._build(self._to_build.get_nowait(), evaluator, folder)
        except (queue.Empty, Stopped):
            pass
        except BaseException as error:
            self.problem = error
            self._tasks.close()
        finally:
            evaluator.close()

    def _build(self, job: EvaluationJob, evaluator: Evaluator, folder: Path) -> None:
        failure: Evaluation | JudgeFault | Lost | None
        try:
            scratch = _new_folder(folder)
            failure = _retried(evaluator, replace(job, scratch=scratch))
        except (JudgeFault, Lost) as fault:
            failure = fault
        if failure is not None:
            self._failed(job, failure)
        elif job.is_extension:
            self._built(replace(job, scratch=scratch))
        else:  # What it ordered is there for every process of the run.
            remove(scratch)
            self._built(job)


def _retried(evaluator: Evaluator, job: EvaluationJob) -> Evaluation | None:
    """Build; if the process is lost, build with another one."""
    for _ in range(_MOST_LOSSES - 1):
        with suppress(Lost):
            return evaluator.build(job)
    return evaluator.build(job)


def _new_folder(above: Path) -> Path:
    folder = above / secrets.token_hex(4)
    with own_faults("making a folder to build in"):
        folder.mkdir(mode=0o700)
    return folder
