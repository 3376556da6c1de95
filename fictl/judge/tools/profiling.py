"""profile_solution: Nsight Compute's counters of a solution's kernels, explained in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fictl.case.options import CaseOptions
from fictl.child.program import Program
from fictl.judge.process.scratch import scratch_folder
from fictl.judge.tools.child import CALLS
from fictl.judge.tools.first_error import own_path
from fictl.judge.tools.look import Look
from fictl.judge.tools.subject import Given, SolutionSubject, find_subject
from fictl.profile.ncu.collection import Collection
from fictl.profile.ncu.report import NcuReport
from fictl.profile.ncu.run_ncu import profile
from fictl.profile.request import ProfileRequest
from fictl.project import OpFolder, Project
from fictl.toolchain import require_gpu


def profile_solution(
    solution: Given,
    definition: Given = "",
    *,
    workload: Given = "",
    axes: dict[str, int] | None = None,
    kernel: str = "",
    set: str = "full",
    dataset: str = "",
    out: str = "profiles",
    seed: int = 0,
    timeout: float = 600.0,
) -> dict[str, Any]:
    """Report what limits each kernel, where it stalls, and which lines take the time. Needs a GPU
    and ncu; `kernel` is a regular expression of kernel names.
    """
    subject = find_subject(solution, definition, workload, axes, dataset)
    collection = Collection(set=set, kernel=kernel)
    return answered(subject, profiled(subject, collection, Path(out), timeout, seed))


def profiled(
    subject: SolutionSubject, collection: Collection, out: Path, timeout: float, seed: int = 0
) -> NcuReport:
    require_gpu("ncu measures GPUs, and there is none here", "run it on a machine with a GPU")
    look = Look(subject, CALLS, "cuda", timeout, seed=seed)
    with scratch_folder("look") as folder:
        asked = _SolutionRequest(
            _folder(subject),
            frozenset(),
            CaseOptions(case=subject.solution.name, timeout=timeout),
            1,
            out,
            caller=look.program.filed(folder),
        )
        report = profile(asked, collection)
    return replace(report, op=subject.solution.name)


def answered(subject: SolutionSubject, report: NcuReport) -> dict[str, Any]:
    sources = [source.path for source in subject.solution.sources]
    kernels = [_located(kernel, sources) for kernel in report.to_dict()["kernels"]]
    document = {**report.to_dict(), "kernels": kernels}
    return {**subject.of("profile"), "ok": True, "status": "PROFILED", **document, "op": report.op}


def _located(kernel: dict[str, Any], sources: list[str]) -> dict[str, Any]:
    """Name the files of hot lines as the solution names them."""
    lines = [
        {**line, "file": own_path(str(line.get("file", "")), sources) or line.get("file", "")}
        for line in kernel["lines"]
    ]
    return {**kernel, "lines": lines}


@dataclass(frozen=True)
class _SolutionRequest(ProfileRequest):
    """A request whose program calls a solution, instead of an op's case."""

    caller: Program | None = None

    @property
    def program(self) -> Program:
        assert self.caller is not None
        return self.caller


def _folder(subject: SolutionSubject) -> OpFolder:
    """A stand-in for an op's folder: ncu's lines are ranked by their distance to it."""
    from fictl.runnable.builder import cache_path

    place = cache_path()
    project = Project("solution", "solution", place, place, place, "")
    return OpFolder(project, subject.solution.author, subject.solution.name)
