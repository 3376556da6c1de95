"""A declaration knows what users call the op, and what it computes."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from fictl.errors import UsageError
from fictl.op import declaration, op
from fictl.ops import rmsnorm, scale
from fictl.trace import Tensor, TraceTemplate, Var


def double(input: torch.Tensor) -> torch.Tensor:
    return input * 2


TEMPLATE = TraceTemplate(
    {"n": Var("elements")}, {"input": Tensor(("n",))}, {"out": Tensor(("n",))}, double
)


def test_a_shipped_op_is_called_by_fictls_facade() -> None:
    assert declaration(rmsnorm).api == "fictl.ops.rmsnorm"


def test_an_op_of_a_users_project_is_called_by_the_projects() -> None:
    declared = replace(declaration(scale), module="my_kernels.elementwise.scale.op")
    assert declared.api == "my_kernels.ops.scale"


def test_its_template_is_that_of_its_name_in_trace_py() -> None:
    from fictl.kernels.norm.rmsnorm import trace

    assert declaration(rmsnorm).template is trace.rmsnorm


def test_a_function_in_no_op_folder_brings_its_template() -> None:
    function = op(archs=">=8.0", dtypes="f16", mutates="", trace=TEMPLATE)(double)
    assert declaration(function).template is TEMPLATE


def test_without_a_template_the_error_says_where_one_belongs() -> None:
    lost = replace(declaration(scale), module="nowhere.family.module.op")
    with pytest.raises(UsageError, match=r"scale has no trace") as error:
        _ = lost.template
    assert "trace.py beside op.py" in error.value.hint


def test_a_name_in_trace_py_that_is_no_template_is_refused() -> None:
    lost = replace(declaration(scale), name="torch")
    with pytest.raises(UsageError, match="is not a TraceTemplate"):
        _ = lost.template
