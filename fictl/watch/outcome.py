"""StepOutcome: the result of one step, as the watch reports it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fictl.bench.result import BenchReport
from fictl.bench.row import FAILED, WRONG
from fictl.errors import FictlError, SetupError
from fictl.watch.answer import Answer
from fictl.watch.board import Board, Standing
from fictl.watch.problem import Problem


@dataclass(frozen=True)
class StepOutcome:
    """Result of a step. text: a short description; facts: its numbers; problem: why it failed.

    A limit of this machine, such as a test that needs another GPU, is reported and is not a
    failure: `able`.
    """

    step: str
    seconds: float
    text: str = ""
    problem: Problem | None = None
    able: bool = True
    facts: dict[str, Any] = field(default_factory=dict)
    standings: tuple[Standing, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        return 1 if self.problem else 0 if self.able else SetupError.exit_code

    def to_dict(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "ok": self.exit_code == 0,
            "seconds": round(self.seconds, 3),
            "said": self.text,
            "problem": self.problem.to_dict() if self.problem else None,
            **self.facts,
            **(
                {"cases": [standing.to_dict() for standing in self.standings]}
                if self.standings
                else {}
            ),
        }


def outcome_of(answer: Answer, board: Board, cycle: int, at: float) -> StepOutcome:
    """Make the outcome of an answer, and put its times on the board."""
    if answer.data is None:
        error = answer.error or FictlError(f"fictl {answer.step} said nothing")
        return StepOutcome(answer.step, answer.seconds, problem=Problem.of(error))
    if answer.step == "build":
        return _built(answer)
    return _tested(answer) if answer.step == "test" else _timed(answer, board, cycle, at)


def _built(answer: Answer) -> StepOutcome:
    compiled = [module for module in answer.data if module["compiled"]]
    seconds = sum(module["seconds"] for module in compiled)
    modules = f"{len(compiled)} modules " if len(compiled) > 1 else ""
    text = f"{modules}compiled in {seconds:.1f} s" if compiled else "was built already"
    facts = {"compiled": len(compiled), "compile_seconds": round(seconds, 3)}
    if answer.error:
        return StepOutcome("build", answer.seconds, problem=Problem.of(answer.error), facts=facts)
    return StepOutcome("build", answer.seconds, text, facts=facts)


def _tested(answer: Answer) -> StepOutcome:
    data = answer.data
    failed = [test for test in data["tests"] if test["outcome"] == "failed"]
    skipped, full = sum(data["skipped"].values()), len(data["out_of_memory"])
    parts = [
        f"{data['passed']} passed",
        *([f"{len(failed)} failed"] if failed else []),
        *([f"{full} out of memory"] if full else []),
        *([f"{skipped} not run here"] if skipped else []),
    ]
    if not (data["passed"] or failed or full):
        parts.append("; ".join(data["skipped"]))
    facts = {
        name: data[name] for name in ("passed", "failed", "out_of_memory", "skipped", "device")
    }
    problem = _first_failed(failed[0]) if failed else None
    able = answer.code != SetupError.exit_code
    return StepOutcome("test", answer.seconds, " · ".join(parts), problem, able, facts)


def _first_failed(test: dict[str, Any]) -> Problem:
    return Problem.of(FictlError(f"{test['test']}  {test['reason']}".rstrip(), test["command"]))


def _timed(answer: Answer, board: Board, cycle: int, at: float) -> StepOutcome:
    report = BenchReport.from_dict(answer.data)
    wrong = [row for row in report.rows if row.status in (WRONG, FAILED) and not row.is_baseline]
    standings = board.take(report.rows, cycle, at)
    cases = f"{len(standings)} case{'' if len(standings) == 1 else 's'} timed"
    problem = Problem.of(answer.error) if answer.error else None
    if wrong:
        problem = Problem(f"{wrong[0].case}  {wrong[0].status}: {wrong[0].note}")
    return StepOutcome(
        "bench",
        answer.seconds,
        cases,
        problem,
        able=bool(standings) or bool(problem),
        standings=standings,
        warnings=report.environment.warnings,
    )
