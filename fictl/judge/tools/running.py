"""run_solution: one evaluation, in the form that datasets store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fictl.judge.config import EvalConfig
from fictl.judge.tools.first_error import first_error
from fictl.judge.tools.subject import Given, SolutionSubject, find_subject

if TYPE_CHECKING:
    from fictl.trace import Evaluation


def run_solution(
    solution: Given,
    definition: Given = "",
    *,
    workload: Given = "",
    axes: dict[str, int] | None = None,
    device: str = "cuda",
    dataset: str = "",
    untrusted: bool = False,
    iterations: int = EvalConfig.iterations,
    timeout: float = EvalConfig.timeout_seconds,
    seed: int = EvalConfig.seed,
) -> dict[str, Any]:
    """Judge a solution on one workload: status, errors, latency and speedup."""
    config = EvalConfig(
        device=device,
        untrusted=untrusted,
        iterations=iterations,
        timeout_seconds=timeout,
        seed=seed,
    )
    subject = find_subject(solution, definition, workload, axes, dataset)
    return answered(subject, config, evaluated(subject, config))


def evaluated(subject: SolutionSubject, config: EvalConfig) -> Evaluation:
    from fictl.judge.solution_judge import judge

    return judge(subject.definition, subject.solution, subject.ready, config, root=subject.root)


def answered(
    subject: SolutionSubject, config: EvalConfig, evaluation: Evaluation
) -> dict[str, Any]:
    ok = evaluation.status.value == "PASSED"
    return {
        **subject.of("run"),
        "device": config.device,
        "ok": ok,
        **evaluation.model_dump(mode="json"),
        "error": None if ok else error_of(subject, evaluation),
    }


def error_of(subject: SolutionSubject, evaluation: Evaluation) -> dict[str, Any]:
    """The first error in the evaluation's log, with its place in the solution's sources."""
    sources = [source.path for source in subject.solution.sources]
    first = next((line for line in evaluation.log.splitlines() if line.strip()), "")
    return first_error((evaluation.log,), sources, first).to_dict()
