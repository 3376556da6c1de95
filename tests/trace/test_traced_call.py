from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.errors import UsageError
from fictl.op import op
from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var, fictl_trace


def _reference(table: torch.Tensor, input: torch.Tensor, factor: float) -> torch.Tensor:
    return input * factor


TRACE = TraceTemplate(
    axes={"n": Var("elements"), "rows": Const("of the table")},
    inputs={
        "table": Tensor(("rows",), dtype="int32"),
        "input": Tensor(("n",)),
        "factor": Scalar("float32", 3.0),
    },
    outputs={"out": Tensor(("n",), dtype_from="input")},
    reference=_reference,
)


@op(archs=">=8.0", dtypes="f16 f32", mutates="out", trace=TRACE)
def spread(table: Any, input: Any, factor: float = 1.0, out: Any = None) -> Any:
    raise AssertionError("it was called")


class Spread:
    def plan(self, table: Any) -> None:
        """Nothing to keep."""

    @op(archs=">=8.0", dtypes="f16 f32", mutates="out", trace=TRACE)
    def run(self, input: Any, factor: float = 1.0, out: Any = None) -> Any:
        raise AssertionError("it was called")


TABLE, INPUT = torch.zeros(4, dtype=torch.int32), torch.ones(3).half()


def test_a_call_is_described_and_not_made() -> None:
    made = fictl_trace(spread)(TABLE, INPUT, factor=2.0)
    assert made.name == "spread_rows4_f16"
    assert made.inputs["input"].dtype == "float16"


def test_a_class_and_an_objects_run_are_called_flat() -> None:
    for api in (Spread, Spread().run):
        assert fictl_trace(api)(INPUT, table=TABLE).name == "Spread_rows4_f16"


def test_what_a_watched_plan_was_given_is_remembered() -> None:
    planned = Spread()
    planned._fictl_planned = {"table": TABLE}
    assert fictl_trace(planned.run)(INPUT).name == "Spread_rows4_f16"


def test_without_what_plan_was_given_the_missing_axis_is_named() -> None:
    with pytest.raises(ValueError, match="no argument gives the size of rows"):
        fictl_trace(Spread().run)(INPUT)


def test_it_is_kept_where_it_is_wanted(tmp_path: Path) -> None:
    made = fictl_trace(spread, save_dir=tmp_path / "a" / "b")(TABLE, INPUT)
    (path,) = (tmp_path / "a" / "b").iterdir()
    assert path.name == "spread_rows4_f16.json"
    assert json.loads(path.read_text()) == made.to_dict()


def test_a_call_that_the_function_would_refuse_is_refused() -> None:
    with pytest.raises(UsageError, match="spread: got an unexpected keyword argument 'fast'"):
        fictl_trace(spread)(TABLE, INPUT, fast=True)


def test_what_is_no_op_is_refused() -> None:
    with pytest.raises(UsageError, match="is not an op"):
        fictl_trace(len)
