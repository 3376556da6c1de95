from __future__ import annotations

import torch

from fictl.case.subject import of_function
from fictl.project import OpFolder


def test_a_function_is_called_on_inputs_by_name(hostile: OpFolder) -> None:
    subject = of_function(hostile, "right", "key")
    out = torch.empty(4)
    plan, run = subject.bind({"input": torch.ones(4), "out": out})
    plan()
    run()
    assert out.tolist() == [2.0] * 4
    assert (subject.key, subject.has_plan, subject.output_arguments) == ("key", False, ("out",))


def test_a_class_has_a_plan(hostile: OpFolder) -> None:
    assert of_function(hostile, "Planned", "").has_plan


def test_an_op_in_place_changes_its_inputs(hostile: OpFolder) -> None:
    assert of_function(hostile, "inplace", "").changes_inputs
    assert not of_function(hostile, "right", "").changes_inputs
