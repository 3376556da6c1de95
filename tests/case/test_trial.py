from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch

from fictl.bench.worker.sides import baseline
from fictl.case.contender import Contender, own
from fictl.case.options import CaseOptions
from fictl.case.selected import selected
from fictl.case.trial import Trial, mismatch
from fictl.case.workload import Workload
from fictl.project import OpFolder
from fictl.trace import Tensor, TraceTemplate, Var

TEMPLATE = TraceTemplate(
    {"n": Var("")}, {"input": Tensor(("n",))}, {"out": Tensor(("n",))}, lambda input: input
)


def trial(folder: OpFolder, function: str, side: Contender | None = None) -> Trial:
    ((subject, case),) = selected(folder, [function], CaseOptions(case="-64"))
    return Trial(side or own(subject), Workload(subject, case, "cpu"))


def test_a_copy_is_prepared_once(hostile: OpFolder) -> None:
    made = trial(hostile, "right")
    assert made.copy(1) is made.copy(1)
    made.keep_only(1)
    assert list(made.prepared) == [1]


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


@pytest.mark.parametrize("actual", [(torch.ones(2), torch.ones(2)), ()])
def test_more_or_fewer_results_than_outputs_are_said(actual: tuple[torch.Tensor, ...]) -> None:
    said = mismatch(TEMPLATE, {}, actual, lambda: (torch.ones(2),))
    assert said == f"it returns {len(actual)} values, its trace has the outputs out"


def test_of_several_right_results_the_judge_takes_any_whoever_gives_it(hostile: OpFolder) -> None:
    given = []

    def either(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        given.append(inputs)
        if not torch.equal(results["out"].abs(), 2 * inputs["input"].abs()):
            raise AssertionError("out: neither")

    def said(factor: float) -> str:
        made = trial(hostile, "right", baseline("b", lambda input: input * factor))
        subject = made.workload.subject
        made.workload.subject = replace(subject, template=replace(subject.template, judge=either))
        return made.attempt(0)

    assert [said(factor) for factor in (2.0, -2.0, 3.0)] == ["", "", "out: neither"]
    assert len(given) == 3
