"""A solution on a workload, judged: behind policy, from outside, with numbers that it has not seen."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from fictl.judge.config import EvalConfig
from fictl.judge.fault import own_faults
from fictl.judge.inside.roles import SOLUTION
from fictl.judge.judge_outcome import Decided, InvalidReference, Outcome
from fictl.judge.modes import RETURNS, WRITES
from fictl.judge.process.scratch import new_scratch, scratch_root
from fictl.judge.process.spawn import start
from fictl.judge.reference import Reference
from fictl.judge.solution_process import SolutionProcess
from fictl.judge.solution_trial import SolutionTrial, baseline_plan
from fictl.removal import remove
from fictl.trace import Definition, Evaluation, EvaluationStatus, Solution, Workload
from fictl.trace.documents.fitting import require_fit

_HIDDEN = ("definitions", "solutions", "workloads", "traces", "blob", "reports")
_SEED_BITS = 53  # What JSON keeps exactly.


class Judge:
    """Of one solution, for as many workloads as are wanted: it is built once.

    Its process stays from one to the next, and is replaced when something went wrong in it, or
    each time where `isolated`. `reference` may be shared by the judges of one definition, one
    after the other. A `scratch` folder that is given stays, with what was built in it.
    """

    def __init__(
        self,
        definition: Definition,
        solution: Solution,
        config: EvalConfig,
        *,
        root: Path | None = None,
        gpu: int | None = None,
        scratch: Path | None = None,
        isolated: bool = False,
        reference: Reference | None = None,
    ) -> None:
        self._definition, self._solution = definition, solution
        self._config = config if config.seed else replace(config, seed=_new_seed())
        self._root, self._gpu, self._isolated = root, gpu, isolated
        self._kind = config.device.partition(":")[0]
        self._own_reference = reference is None
        self._reference = reference or Reference(definition, self._kind, root=root, gpu=gpu)
        self._is_temporary = scratch is None
        self._scratch = scratch or new_scratch("solution")
        self._process: SolutionProcess | None = None
        self._is_new = self._is_built = False
        self._build_failure: Decided | None = None

    @own_faults("judging a workload")
    def evaluate(self, workload: Workload) -> Evaluation:
        """SetupError where this machine cannot, JudgeFault where the judge fails: no verdict.

        Whatever the solution does is a status.
        """
        start_time = time.monotonic()
        config = self._config.for_workload(workload)
        outcome = Outcome(facts=self._facts(config))
        try:
            self._run(workload, config, outcome)
        except Decided as decided:
            outcome.decide(decided)
        except InvalidReference as error:
            outcome.decide(Decided(EvaluationStatus.INVALID_REFERENCE, error.message, error.hint))
        except BaseException:  # Nobody knows what state its process is in.
            self._end_process()
            raise
        outcome.facts["seconds"] = round(time.monotonic() - start_time, 3)
        return outcome.evaluation(self._reference.environment, self._end())

    @own_faults("building a solution")
    def build(self) -> Evaluation | None:
        """Without running it, nor the reference: None, or what its failure is called."""
        try:
            if self._process is None:
                self._build(self._started())
        except Decided as decided:
            outcome = Outcome(facts=self._facts(self._config))
            outcome.decide(decided)
            return outcome.evaluation(self._reference.environment, self._end())
        return None

    def close(self) -> None:
        self._end_process()
        if self._own_reference:
            self._reference.close()
        if self._is_temporary:
            remove(self._scratch)

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _run(self, workload: Workload, config: EvalConfig, outcome: Outcome) -> None:
        require_fit(self._definition, workload)
        if self._build_failure is not None:
            raise self._build_failure
        opened = self._reference.open(workload, config)
        style = WRITES if self._solution.spec.destination_passing_style else RETURNS
        outcome.facts |= {"evaluator": opened.evaluator, "fresh_inputs": opened.fresh}
        process = self._acquainted(style) or self._started()
        outcome.facts["sandbox"] = process.sandboxed.policy
        is_first, self._is_new = self._is_new, False
        if not self._is_built:
            self._build(process)
        if not self._reference.has_met(process):
            self._reference.meet(process)
        SolutionTrial(
            process, self._reference, workload, config, opened, style, outcome, is_first
        ).evaluate()

    def _end(self) -> str:
        """Of one workload: what was printed. A process that something went wrong in ends, too."""
        process = self._process
        if process is None:
            return ""
        if process.is_spent or self._isolated:
            self._end_process()
        return process.sandboxed.log.take()

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _facts(self, config: EvalConfig) -> dict[str, Any]:
        return {
            "seed": config.seed,
            "device": config.device,
            "solution_hash": self._solution.hash(),
        }

    def _acquainted(self, style: str) -> SolutionProcess | None:
        """The process that there is, if it can have turns with the referee that there is.

        On a GPU none is there when it is measured what turns take without one, and with the
        reference: kernels that it has left running would make that longer.
        """
        process, baseline = self._process, self._reference.baseline
        is_old = process and process.partner and not self._reference.has_met(process)
        is_in_the_way = self._kind == "cuda" and not baseline.knows(style)
        if process is not None and (is_old or is_in_the_way):
            process.close()
            self._process = process = None
        if is_in_the_way:
            baseline.overhead(style)
            if self._config.profile_baseline:
                baseline.seconds(baseline_plan(self._reference.opened, self._config))
        return process

    def _started(self) -> SolutionProcess:
        folder = self._scratch / "work"
        root = self._root  # Not all of it is hidden: an interpreter may lie there, too.
        hidden = [root / name for name in _HIDDEN if os.path.isdir(root / name)] if root else []
        hidden.append(scratch_root())
        sandboxed = start(
            SOLUTION,
            folder,
            hidden=tuple(hidden),
            device=self._kind,
            gpu=self._gpu,
            untrusted=self._config.untrusted,
        )
        self._process, self._is_new, self._is_built = (
            SolutionProcess(sandboxed, folder),
            True,
            False,
        )
        return self._process

    def _build(self, process: SolutionProcess) -> None:
        process.deadline = time.monotonic() + self._config.compile_timeout_seconds
        try:
            process.build(self._definition, self._solution, self._kind)
        except Decided as decided:
            if decided.status is EvaluationStatus.COMPILE_ERROR:
                self._build_failure = decided
            raise
        self._is_built = True


def judge(
    definition: Definition,
    solution: Solution,
    workload: Workload,
    config: EvalConfig,
    *,
    root: Path | None = None,
    gpu: int | None = None,
    scratch: Path | None = None,
    **more: Any,
) -> Evaluation:
    """One workload; `more` as Judge takes it."""
    with Judge(definition, solution, config, root=root, gpu=gpu, scratch=scratch, **more) as one:
        return one.evaluate(workload)


def _new_seed() -> int:
    return secrets.randbits(_SEED_BITS) or 1
