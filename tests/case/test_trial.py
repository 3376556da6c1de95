from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from fictl.bench.worker.sides import baseline
from fictl.case.contender import Contender, own
from fictl.case.options import CaseOptions
from fictl.case.selection import selected_cases
from fictl.case.trial import CaseTrial
from fictl.case.workload import TrialWorkload
from fictl.project import OpFolder


def trial(folder: OpFolder, function: str, side: Contender | None = None) -> CaseTrial:
    ((subject, case),) = selected_cases(folder, [function], CaseOptions(case="-64"))
    return CaseTrial(side or own(subject), TrialWorkload(subject, case, "cpu"))


def test_a_copy_is_prepared_once(hostile: OpFolder) -> None:
    tried = trial(hostile, "right")
    assert tried.copy(1) is tried.copy(1)
    tried.keep_only(1)
    assert list(tried.prepared) == [1]


def test_outputs_are_poison_until_a_call_writes_them(hostile: OpFolder) -> None:
    copy = trial(hostile, "right").copy(0)
    assert copy.outputs["out"].isnan().all()
    copy()
    assert not copy.outputs["out"].isnan().any()


def test_a_plan_is_made_before_the_first_call(hostile: OpFolder) -> None:
    assert trial(hostile, "Planned").attempt(0) == ""


def test_a_result_that_is_an_input_is_not_overwritten(hostile: OpFolder) -> None:
    side = baseline("alias", lambda input: input.mul_(2.0))
    copy = trial(hostile, "right", side).copy(0)
    copy()
    assert copy.fresh() == []


def test_a_baseline_that_prepares_is_called_as_it_prepared(hostile: OpFolder) -> None:
    calls = []

    def prepares(input: torch.Tensor):
        calls.append("prepared")
        return lambda: calls.append("called") or input * 2

    assert trial(hostile, "right", baseline("b", prepares)).attempt(0) == ""
    assert calls == ["prepared", "called"]


def test_of_several_right_results_the_judge_takes_any_whoever_gives_it(hostile: OpFolder) -> None:
    given = []

    def either(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        given.append(inputs)
        if not torch.equal(results["out"].abs(), 2 * inputs["input"].abs()):
            raise AssertionError("out: neither")

    def problem(factor: float) -> str:
        tried = trial(hostile, "right", baseline("b", lambda input: input * factor))
        subject = tried.workload.subject
        tried.workload.subject = replace(subject, template=replace(subject.template, judge=either))
        return tried.attempt(0)

    assert [problem(factor) for factor in (2.0, -2.0, 3.0)] == ["", "", "out: neither"]
    assert len(given) == 3
