"""sanitize_solution: findings of compute-sanitizer, or of the emulated device's checker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fictl import settings
from fictl.judge.tools.child import CALLS
from fictl.judge.tools.first_error import own_path
from fictl.judge.tools.look import Look, LookResult
from fictl.judge.tools.subject import Given, SolutionSubject, find_subject
from fictl.report.finding import findings
from fictl.sanitize import compute_sanitizer
from fictl.sanitize.report_parser import records

EMULATED = "emulated"


def sanitize_solution(
    solution: Given,
    definition: Given = "",
    *,
    workload: Given = "",
    axes: dict[str, int] | None = None,
    tools: Sequence[str] = (),
    device: str = "cuda",
    dataset: str = "",
    seed: int = 0,
    timeout: float = 600.0,
) -> dict[str, Any]:
    """Run a solution once under each tool: memcheck, racecheck, initcheck and synccheck on a GPU,
    or the checker of the emulated device, which observes every memory access.
    """
    subject = find_subject(solution, definition, workload, axes, dataset)
    return sanitized(subject, tools, device, timeout, seed)


def sanitized(
    subject: SolutionSubject, tools: Sequence[str], device: str, timeout: float, seed: int = 0
) -> dict[str, Any]:
    chosen = (EMULATED,) if device == "emu" else compute_sanitizer.choose(tools)
    look = Look(subject, CALLS, device, timeout, seed=seed)
    checks = [_check(look, tool) for tool in chosen]
    defects = sum(len(check["findings"]) for check in checks)
    failed = [check for check in checks if check["error"]]
    verdict = "DEFECTS" if defects else "ERROR" if failed else "CLEAN"
    return {
        **subject.of("sanitize"),
        "device": device,
        "ok": verdict == "CLEAN",
        "status": verdict,
        "checks": checks,
    }


def _check(look: Look, tool: str) -> dict[str, Any]:
    if tool == EMULATED:
        seen = look.take(variables={settings.EMU_CHECK.name: "1"})
        rows = seen.rows
    else:
        seen = look.take(compute_sanitizer.command(tool), compute_sanitizer.environment())
        rows = _reported(seen)
    if not rows:
        seen.refuse_machine()
    sources = [source.path for source in look.subject.solution.sources]
    reported = findings((_located(row, sources) for row in rows), ())
    return {
        "tool": tool,
        "findings": [{**finding.to_dict(), "text": finding.text} for finding in reported],
        **seen.failure(),
    }


def _reported(seen: LookResult) -> list[dict[str, Any]]:
    """Reports of compute-sanitizer, which is told to skip torch's own kernels."""
    reports = records(seen.output)
    refused = None if reports else compute_sanitizer.refusal(seen.output)
    if refused:
        raise refused
    return [{**record.report.to_dict(), "text": record.text()} for record in reports]


def _located(row: dict[str, Any], sources: Sequence[str]) -> dict[str, Any]:
    """Replace the paths of builders' copies by the solution's own file names."""
    paths = {side["file"] for side in (row, row.get("other") or {}) if side.get("file")}
    text = str(row["text"])
    for path in sorted(paths, key=len, reverse=True):
        text = text.replace(path, own_path(path, sources) or path)
    file = row.get("file") or ""
    return {**row, "file": own_path(file, sources) or file, "text": text}
