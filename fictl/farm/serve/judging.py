"""Builds and evaluations at a place, by the judge of the current job."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fictl.errors import FictlError
from fictl.farm.exchange import Exchange
from fictl.farm.line import (
    Blob,
    Deferred,
    Evaluated,
    EvaluateWorkload,
    Greeting,
    JobStarted,
    JudgeFailed,
)
from fictl.farm.serve.building import PlaceBuilds
from fictl.farm.serve.dataset_folder import DatasetFolder
from fictl.judge.fault import JudgeFault, own_faults

if TYPE_CHECKING:
    from fictl.judge.baseline_times import BaselineTimes
    from fictl.judge.process.spares import Spares
    from fictl.trace import Evaluation

# Errors after which every later call of the process fails, too.
_STICKY = re.compile(
    r"CUDA error: (?:an illegal (?:memory access|instruction)|unspecified launch failure"
    r"|uncorrectable ECC|misaligned address|device-side assert|hardware stack error"
    r"|the launch timed out)|CUDA_ERROR_(?:ILLEGAL_ADDRESS|ECC_UNCORRECTABLE|LAUNCH_FAILED)"
    r"|cudaError(?:IllegalAddress|ECCUncorrectable|LaunchFailure|DevicesUnavailable)"
)


class JudgeServer:
    """Holds the judge of the current job; a reference is kept for the next jobs of its
    definition.
    """

    def __init__(self, exchange: Exchange, greeting: Greeting) -> None:
        self._exchange = exchange
        self._greeting, self._builds = greeting, PlaceBuilds(greeting)
        self._spares: Spares | None = None
        self._job: JobStarted | None = None
        self._folder: DatasetFolder | None = None
        self._judge: Any = None
        self._reference: Any = None
        self._times: BaselineTimes | None = None

    def begin(self, job: JobStarted) -> None:
        self._end_judge()
        self._job = job

    def build(self) -> Evaluated | Deferred | JudgeFailed:
        """Build the solution; the answer is empty on success."""
        return self._answer(lambda: self._opened().build(), waits=True, others=False)

    def evaluate(self, request: EvaluateWorkload) -> Evaluated | Deferred | JudgeFailed:
        """Evaluate, unless the solution needs what is not built, and the request does not wait."""
        from fictl.trace import Workload

        job = self._known_job()
        key = "" if request.waits else self._builds.known_to_wait(job.solution)
        if key:
            return self._builds.deferred(key)

        def judged() -> Evaluation | None:
            self._bring(request.files)
            workload = Workload.model_validate(json.loads(request.workload))
            evaluation: Evaluation = self._opened().evaluate(workload)
            return evaluation

        return self._answer(judged, request.waits, others=True)

    def close(self) -> None:
        self._end_judge()
        self._end_reference()
        self._end_spares()
        self._builds.close()
        if self._folder is not None:
            self._folder.close()

    def _answer(
        self, ask: Callable[[], Evaluation | None], waits: bool, others: bool
    ) -> Evaluated | Deferred | JudgeFailed:
        """Ask the judge, again and again while what it needs is built; `others`: unless another build
        ends first.
        """
        from fictl.judge.process.order_desk import NotBuilt

        job = self._known_job()
        while True:
            try:
                with own_faults("judging"):
                    evaluation = ask()
            except JudgeFault as error:
                return _fault(error)
            except NotBuilt as missing:
                self._builds.waits(job.solution, missing.key)
                if self._builds.builder_for(job.solution) is None:
                    self._end_judge()  # The next one builds in its own process.
                seconds = job.config.compile_timeout_seconds
                if waits and (self._builds.wait(missing.key, seconds, others) or not others):
                    continue
                return self._builds.deferred(missing.key)
            return Evaluated(None if evaluation is None else str(evaluation.model_dump_json()))

    def _known_job(self) -> JobStarted:
        if self._job is None:
            raise FictlError("an evaluation came before its job")
        return self._job

    def _bring(self, files: Mapping[str, Blob]) -> None:
        """Put the workload's files where the judge looks for them."""
        if files:
            self._exchange.fetch(files.values())
            self._own_folder().fill(files, self._exchange.blobs)

    def _own_folder(self) -> DatasetFolder:
        if self._folder is None:
            self._folder = DatasetFolder()
        return self._folder

    def _root(self, job: JobStarted) -> Path:
        return job.root or self._own_folder().root

    def _opened(self) -> Any:
        if self._judge is None:
            self._judge = self._new_judge()
        return self._judge

    def _new_judge(self) -> Any:
        from fictl.judge.baseline_times import BaselineTimes
        from fictl.judge.reference import Reference
        from fictl.judge.shipped import build_shipped
        from fictl.judge.solution_judge import Judge
        from fictl.trace import Definition, Solution

        job = self._known_job()
        build_shipped(job.config.device)
        definition = Definition.model_validate(json.loads(job.definition))
        spares = self._spares_for(job)
        if self._reference is not None and definition != self._reference.definition:
            if (
                spares is not None
                and spares is self._reference.spares
                and not spares.purpose.untrusted
            ):
                self._reference.turn_to(definition)
            else:
                self._end_reference()
        if self._reference is None:
            kind = job.config.device.partition(":")[0]
            self._times = self._times or BaselineTimes()
            self._reference = Reference(
                definition, kind, root=self._root(job), spares=spares, times=self._times
            )
        return Judge(
            definition,
            Solution.model_validate(json.loads(job.solution)),
            job.config,
            root=self._root(job),
            scratch=job.scratch,
            isolated=job.isolated,
            reference=self._reference,
            builder=self._builds.builder_for(job.solution),
            spares=spares,
        )

    def _spares_for(self, job: JobStarted) -> Spares | None:
        """Return processes that wait for a solution; None where there is no next one."""
        from fictl.judge.process.spares import For, Spares

        if not self._greeting.run:
            return None
        kind = job.config.device.partition(":")[0]
        purpose = For(kind, self._root(job), job.config.untrusted)
        if self._spares is None or self._spares.purpose != purpose:
            self._end_spares()
            self._spares = Spares(purpose)
        return self._spares

    def _end_spares(self) -> None:
        spares, self._spares = self._spares, None
        if spares is not None:
            spares.close()

    def _end_judge(self) -> None:
        judge, self._judge = self._judge, None
        if judge is not None:
            judge.close()

    def _end_reference(self) -> None:
        reference, self._reference = self._reference, None
        if reference is not None:
            reference.close()


def _fault(error: JudgeFault) -> JudgeFailed:
    return JudgeFailed(error.message, error.hint, bool(_STICKY.search(error.message)))
