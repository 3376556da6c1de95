"""Evaluates a solution in a sandboxed process, on inputs it has never seen."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from fictl.judge.config import EvalConfig
from fictl.judge.fault import own_faults
from fictl.judge.inside.roles import SOLUTION
from fictl.judge.judge_outcome import Decided, InvalidReference, JudgeOutcome
from fictl.judge.modes import RETURNS, WRITES
from fictl.judge.once.builder import Builder
from fictl.judge.once.building import Walls
from fictl.judge.process.environment import CACHES
from fictl.judge.process.hidden import hidden_from_solutions
from fictl.judge.process.sandboxed_process import SandboxedProcess
from fictl.judge.process.scratch import new_scratch
from fictl.judge.process.spares import WORK, Spares
from fictl.judge.process.spawn import start
from fictl.judge.reference import Reference
from fictl.judge.solution_process import SolutionProcess
from fictl.judge.solution_trial import SolutionTrial
from fictl.judge.spent import BASELINE, BUILD, OVERHEAD, REFERENCE, START, Spent
from fictl.removal import remove
from fictl.trace import Definition, Evaluation, EvaluationStatus, Solution, Workload
from fictl.trace.documents.fitting import require_fit

_SEED_BITS = 53  # JSON keeps integers of this size exactly.


class Judge:
    """Evaluates one solution on any number of workloads; the solution is built once.

    Its process is reused for the next workload. It is replaced after a failure, or for each
    workload if `isolated`. The judges of one definition may share a `reference`, one after the
    other. If `scratch` is given, the folder is kept with its builds.

    With `spares`, its processes are some of them while there are any. With a `builder`, evaluate and build raise NotBuilt where the solution needs what it does not
    have yet, and can be called again once it does.
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
        builder: Builder | None = None,
        spares: Spares | None = None,
    ) -> None:
        self._definition, self._solution = definition, solution
        self._config = config if config.seed else replace(config, seed=_new_seed())
        self._root, self._gpu, self._isolated = root, gpu, isolated
        self._kind = config.device.partition(":")[0]
        self._own_reference = reference is None
        self._reference = reference or Reference(
            definition, self._kind, root=root, gpu=gpu, spares=spares
        )
        self._is_temporary = scratch is None
        self._spares = spares if scratch is None else None
        self._scratch = scratch
        self._builder = builder
        seconds = config.compile_timeout_seconds
        self._walls = Walls(self._kind, seconds, root, config.untrusted)
        self._spent = Spent()
        self._process: SolutionProcess | None = None
        self._is_new = self._is_built = self._was_in_the_way = False
        self._build_failure: Decided | None = None

    @own_faults("judging a workload")
    def evaluate(self, workload: Workload) -> Evaluation:
        """Evaluate the solution on `workload`; whatever the solution does becomes a status.

        Raises SetupError if this machine cannot run it and JudgeFault if the judge itself fails:
        neither is a verdict on the solution.
        """
        start_time, self._spent = time.monotonic(), Spent()
        try:
            outcome = self._outcome(workload, self._config.for_workload(workload))
        except BaseException:  # The state of its process is unknown, or it waits for a build.
            self._retire_process(None)
            raise
        outcome.facts["seconds"] = round(time.monotonic() - start_time, 3)
        outcome.facts["spent"] = self._spent.seconds()
        outcome.facts["turns"] = self._reference.turn_parts
        if self._process is not None and self._process.sandboxed.desk.seconds:
            outcome.facts["build_seconds"] = round(self._process.sandboxed.desk.seconds, 3)
        return outcome.evaluation(self._reference.environment, self._end_workload())

    @own_faults("building a solution")
    def build(self) -> Evaluation | None:
        """Build the solution without running it or its reference. Returns None, or the failure."""
        try:
            if self._process is None:
                self._build(self._start())
        except Decided as decided:
            outcome = JudgeOutcome(facts=self._facts(self._config))
            outcome.decide(decided)
            return outcome.evaluation(self._reference.environment, self._end_workload())
        return None

    def close(self) -> None:
        self._retire_process(self._scratch)
        if self._own_reference:
            self._reference.close()
        if self._is_temporary and self._spares is None and self._scratch is not None:
            remove(self._scratch)

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _outcome(self, workload: Workload, config: EvalConfig) -> JudgeOutcome:
        outcome = JudgeOutcome(facts=self._facts(config))
        try:
            trial = self._trial(workload, config, outcome.facts)
        except (Decided, InvalidReference) as failure:
            outcome.decide(failure)
            return outcome
        measured = trial.evaluate()
        return replace(measured, facts={**outcome.facts, **measured.facts})

    def _trial(
        self, workload: Workload, config: EvalConfig, facts: dict[str, Any]
    ) -> SolutionTrial:
        """Prepare reference and solution for `workload`, and record in `facts` what was
        prepared.
        """
        require_fit(self._definition, workload)
        if self._build_failure is not None:
            raise self._build_failure
        if self._spares is not None:
            with self._spent.on(START):
                self._begin(self._spares)
        with self._spent.on(REFERENCE):
            opened = self._reference.open(workload, config)
        style = WRITES if self._solution.spec.destination_passing_style else RETURNS
        facts |= {"evaluator": opened.evaluator, "fresh_inputs": opened.fresh}
        with self._spent.on(START):
            process = self._reusable_process(style) or self._start()
        facts["sandbox"] = process.sandboxed.policy
        if self._spares is not None:
            self._spares.refill()  # They start while this solution is loaded and warms up.
        is_first, self._is_new = self._is_new, False
        if not self._is_built:
            with self._spent.on(BUILD):
                self._build(process)
        if not self._reference.has_met(process):
            self._reference.meet(process)
        return SolutionTrial(
            process=process,
            reference=self._reference,
            workload=workload,
            config=config,
            opened=opened,
            style=style,
            is_first=is_first,
            spent=self._spent,
            quiet=self._quiet,
        )

    def _begin(self, spares: Spares) -> None:
        """Wait for what has ended before, as its memory may be needed. On a GPU, processes that are
        missing start meanwhile.
        """
        if self._kind == "cuda":
            spares.refill()
        spares.depart()

    def _end_workload(self) -> str:
        """Return the printed output. The process also ends if it failed, or if it is `isolated`."""
        process = self._process
        if process is None:
            return ""
        if process.is_spent or self._isolated:
            self._end_process()
        elif self._was_in_the_way:
            process.sandboxed.printed.hear()
            self._retire_process(None)
        return process.sandboxed.log.take()

    def _retire_process(self, folder: Path | None) -> None:
        """End the process; with spares, they remove the `folder`, too, and nobody waits for that yet."""
        if self._spares is None:
            self._end_process()
            return
        process, self._process = self._process, None
        self._spares.retire(process.sandboxed if process else None, folder)

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

    def _reusable_process(self, style: str) -> SolutionProcess | None:
        """Return the running process if it can have turns with the current referee.

        On a GPU, the baseline is measured while no solution's process runs: kernels that one left
        running would slow the baseline down. If it had to be, it has to be for the next workload, too,
        as a rule: then the process ends as soon as it has done its work.
        """
        process, baseline = self._process, self._reference.baseline
        is_old = process and process.partner and not self._reference.has_met(process)
        is_in_the_way = self._kind == "cuda" and not baseline.knows(style)
        if process is not None and (is_old or is_in_the_way):
            process.close()
            self._process = process = None
        if is_in_the_way:
            with self._quiet():
                with self._spent.on(OVERHEAD):
                    baseline.overhead(style)
                if self._config.profile_baseline:
                    with self._spent.on(BASELINE):
                        baseline.call_time(self._config)
        self._was_in_the_way = is_in_the_way and self._spares is not None
        return process

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """Have no process starting or ending beside the one that is timed."""
        with ExitStack() as stack:
            if self._spares is not None:
                with self._spent.on(START):
                    stack.enter_context(self._spares.quiet())
            yield

    def _start(self) -> SolutionProcess:
        spare = self._spares.take(SOLUTION) if self._spares else None
        if spare is not None:
            self._move_to(spare.scratch)
        self._scratch = self._scratch or new_scratch("solution")
        folder = self._scratch / WORK
        sandboxed = spare.sandboxed if spare else self._started(folder)
        if self._builder is not None:
            sandboxed.desk.open(partial(self._builder.deliver, walls=self._walls))
        self._process = SolutionProcess(sandboxed, folder)
        self._is_new, self._is_built = True, False
        return self._process

    def _move_to(self, scratch: Path) -> None:
        """Use the folder of a spare, with what the process before has compiled for itself."""
        before, self._scratch = self._scratch, scratch
        if before is not None:
            for name in CACHES:
                with suppress(OSError):  # It has compiled nothing, or has moved it away.
                    os.rename(before / WORK / name, scratch / WORK / name)
            remove(before)

    def _started(self, folder: Path) -> SandboxedProcess:
        return start(
            SOLUTION,
            folder,
            hidden=hidden_from_solutions(self._root),
            device=self._kind,
            gpu=self._gpu,
            untrusted=self._config.untrusted,
        )

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
    """Evaluate a solution on one workload; `more` is passed on to Judge."""
    with Judge(definition, solution, config, root=root, gpu=gpu, scratch=scratch, **more) as one:
        return one.evaluate(workload)


def _new_seed() -> int:
    return secrets.randbits(_SEED_BITS) or 1
