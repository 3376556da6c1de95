"""compile_solution: whether a solution builds, and the first error if it does not."""

from __future__ import annotations

import time
from typing import Any

from fictl.judge.tools.child import BUILD
from fictl.judge.tools.look import Look
from fictl.judge.tools.subject import Given, SolutionSubject, find_subject


def compile_solution(
    solution: Given,
    definition: Given = "",
    *,
    device: str = "cuda",
    dataset: str = "",
    untrusted: bool = False,
    timeout: float = 600.0,
) -> dict[str, Any]:
    """Build a solution. The kernels of an op that `fictl solution export` wrote are compiled as
    well. An untrusted solution is built in a sandbox; kernels that its Python builds wait for a
    run.
    """
    subject = find_subject(solution, definition, root=dataset)
    return compiled(subject, device, timeout, untrusted)


def compiled(
    subject: SolutionSubject, device: str, timeout: float, untrusted: bool = False
) -> dict[str, Any]:
    if untrusted:
        return _behind_walls(subject, device, timeout)
    seen = Look(subject, BUILD, device, timeout).take()
    seen.refuse_machine()
    return {
        **subject.of("compile"),
        "device": device,
        "ok": seen.ok,
        "status": "BUILT" if seen.ok else seen.status,
        "builder": seen.builder or None,
        "seconds": round(seen.seconds, 3),
        **seen.failure(),
    }


def _behind_walls(subject: SolutionSubject, device: str, timeout: float) -> dict[str, Any]:
    """Build in the judge's sandboxed process, which has almost no access to files."""
    from fictl.judge.config import EvalConfig
    from fictl.judge.solution_judge import Judge
    from fictl.judge.tools.running import error_of

    config = EvalConfig(device=device, untrusted=True, compile_timeout_seconds=timeout)
    start = time.perf_counter()
    with Judge(subject.definition, subject.solution, config, root=subject.root) as judge:
        failed = judge.build()
    took = time.perf_counter() - start
    error = error_of(subject, failed) if failed else None
    return {
        **subject.of("compile"),
        "device": device,
        "ok": failed is None,
        "status": failed.status.value if failed else "BUILT",
        "builder": None,
        "seconds": round(took, 3),
        "message": error["text"] if error else None,
        "hint": None,
        "error": error,
        "log": failed.log if failed else "",
    }
