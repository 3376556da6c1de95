"""Builds of a run: compiled solutions are built by other processes, before they get a GPU."""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.dataset.evaluator import Evaluator, Stopped
from fictl.jit.jobs import usable_cores
from fictl.judge.fault import JudgeFault, own_faults
from fictl.judge.process.scratch import new_scratch
from fictl.removal import remove

if TYPE_CHECKING:
    from fictl.dataset.run_plan import EvaluationJob
    from fictl.trace import Evaluation

_TICK_SECONDS = 0.2
# A compiler uses several cores, and concurrent evaluations need some.
_CORES_EACH = 4

Failed = Callable[["EvaluationJob", "Evaluation | JudgeFault"], object]


class Builds:
    """Hands each job, once built, to a thread that asks for one; `failed` receives the others."""

    def __init__(self, jobs: Sequence[EvaluationJob], at_once: int, failed: Failed) -> None:
        self._failed = failed
        self._ready: queue.SimpleQueue[EvaluationJob] = queue.SimpleQueue()
        self._to_build: queue.SimpleQueue[EvaluationJob] = queue.SimpleQueue()
        self._stop = threading.Event()
        self.problem: BaseException | None = None
        for job in jobs:
            (self._to_build if job.is_compiled else self._ready).put(job)
        compiled = sum(job.is_compiled for job in jobs)
        self._left = compiled
        self._lock = threading.Lock()
        self.workers = min(compiled, at_once or max(1, usable_cores() // _CORES_EACH))

    def jobs(self) -> Iterator[EvaluationJob]:
        """Yield jobs until there are no more; wait for builds in progress."""
        while not self._stop.is_set():
            with self._lock:
                is_last = self._left == 0
            try:
                yield self._ready.get(timeout=0 if is_last else _TICK_SECONDS)
            except queue.Empty:
                if is_last:
                    return

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
            self.stop()
            for evaluator in evaluators:
                evaluator.stop()
            for thread in threads:
                thread.join()
            if folder is not None:
                remove(folder)

    def stop(self) -> None:
        self._stop.set()

    def _work(self, evaluator: Evaluator, folder: Path) -> None:
        try:
            while not self._stop.is_set():
                self._build(self._to_build.get_nowait(), evaluator, folder)
        except (queue.Empty, Stopped):
            pass
        except BaseException as error:
            self.problem = error
            self.stop()
        finally:
            evaluator.close()

    def _build(self, job: EvaluationJob, evaluator: Evaluator, folder: Path) -> None:
        try:
            placed = replace(job, scratch=_new_folder(folder))
            failure = evaluator.build(placed)
            if failure is None:
                self._ready.put(placed)
            else:
                self._failed(job, failure)
        except JudgeFault as fault:
            self._failed(job, fault)
        finally:
            with self._lock:
                self._left -= 1


def _new_folder(above: Path) -> Path:
    folder = above / secrets.token_hex(4)
    with own_faults("making a folder to build in"):
        folder.mkdir(mode=0o700)
    return folder
