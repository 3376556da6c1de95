"""Builds and evaluations at a place, by the judge of the current job."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fictl.errors import FictlError
from fictl.farm.exchange import Exchange
from fictl.farm.line import Blob, Evaluated, EvaluateWorkload, JobStarted, JudgeFailed
from fictl.farm.serve.dataset_folder import DatasetFolder
from fictl.judge.fault import JudgeFault, own_faults

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

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._job: JobStarted | None = None
        self._folder: DatasetFolder | None = None
        self._judge: Any = None
        self._reference: Any = None

    def begin(self, job: JobStarted) -> None:
        self._end_judge()
        self._job = job

    def build(self) -> Evaluated | JudgeFailed:
        """Build the solution; the answer is empty on success."""
        try:
            with own_faults("building"):
                evaluation = self._opened().build()
                self._end_judge()
        except JudgeFault as error:
            return _fault(error)
        return Evaluated(None if evaluation is None else str(evaluation.model_dump_json()))

    def evaluate(self, request: EvaluateWorkload) -> Evaluated | JudgeFailed:
        from fictl.trace import Workload

        try:
            with own_faults("judging"):
                self._bring(request.files)
                workload = Workload.model_validate(json.loads(request.workload))
                evaluation = self._opened().evaluate(workload)
        except JudgeFault as error:
            return _fault(error)
        return Evaluated(str(evaluation.model_dump_json()))

    def close(self) -> None:
        self._end_judge()
        self._end_reference()
        if self._folder is not None:
            self._folder.close()

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
        from fictl.judge.reference import Reference
        from fictl.judge.solution_judge import Judge
        from fictl.trace import Definition, Solution

        job = self._job
        if job is None:
            raise FictlError("an evaluation came before its job")
        definition = Definition.model_validate(json.loads(job.definition))
        if self._reference is None or definition != self._reference.definition:
            self._end_reference()
            kind = job.config.device.partition(":")[0]
            self._reference = Reference(definition, kind, root=self._root(job))
        return Judge(
            definition,
            Solution.model_validate(json.loads(job.solution)),
            job.config,
            root=self._root(job),
            scratch=job.scratch,
            isolated=job.isolated,
            reference=self._reference,
        )

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
