"""The baselines of the shipped ops compute what the ops do: their references judge both."""

from __future__ import annotations

import pytest

from fictl.bench.worker.sides import baseline, declared_baselines
from fictl.case.subject import of_function
from fictl.case.trial import CaseTrial
from fictl.case.workload import TrialWorkload
from fictl.project import OpFolder, Project, folders
from fictl.trace import Case

_ELEMENTS = 1 << 14


def small(folder: OpFolder) -> list[Case]:
    every = folder.load("bench").cases()
    return [c for c in every if of(folder, c).template.elements(c.sizes) <= _ELEMENTS]


def of(folder: OpFolder, case: Case):
    return of_function(folder, case.function, "")


@pytest.mark.parametrize("folder", folders(Project.shipped()), ids=str)
def test_torch_computes_every_small_case(folder: OpFolder) -> None:
    bench = folder.load("bench")
    problems = {}
    every = {case.function for case in bench.cases()}
    if not any("torch" in declared_baselines(bench, function) for function in every):
        pytest.skip("none of its baselines is torch's")
    for case in small(folder):
        torch = declared_baselines(bench, case.function).get("torch")
        if torch is None:
            continue
        trial = CaseTrial(baseline("torch", torch), TrialWorkload(of(folder, case), case, "cpu"))
        problems[str(case)] = trial.attempt(0) or trial.off
    assert problems
    assert [problem for problem in problems.items() if problem[1]] == []
