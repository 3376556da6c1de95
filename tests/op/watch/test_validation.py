"""A call is refused for what its trace says of the inputs, in words that name op and argument."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from fictl.errors import InvalidValue
from fictl.op import op
from fictl.op.watch.observed import observed
from fictl.op.watch.validation import Validation
from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var


def _validate(x: Any, indices: Any, bias: Any, scale: Any) -> None:
    if indices is not None and int(indices.max()) >= len(x):
        raise ValueError(f"indices goes to {int(indices.max())}, x has {len(x)} rows")


TRACE = TraceTemplate(
    axes={"rows": Var("rows"), "dim": Const("values a row"), "picked": Var("rows picked")},
    inputs={
        "x": Tensor(("rows", "dim")),
        "indices": Tensor(("picked",), dtype="int32", optional=True),
        "bias": Tensor(("dim",), dtype_from="x", optional=True),
        "scale": Scalar("float32", 1.0),
    },
    outputs={"out": Tensor(("rows", "dim"), dtype_from="x")},
    constraints=("dim % 8 == 0", "scale > 0", "picked <= rows"),
    reference=lambda x, indices, bias, scale: x,
    validate=_validate,
)
X = torch.zeros(4, 16)


def gather(
    x: Any, indices: Any = None, bias: Any = None, scale: Any = 1.0, out: Any = None, flag: Any = 0
) -> str:
    return "ran"


def watched(trace: TraceTemplate = TRACE, function: Any = gather) -> Any:
    declare = op(archs=">=8.0", dtypes="f16 f32", mutates="out", trace=trace)
    return observed(function, declare(function).op, [Validation()])


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"indices": torch.tensor([0, 3], dtype=torch.int32), "bias": torch.zeros(16)},
        {"x": torch.zeros(2, 2, 16, dtype=torch.float16), "out": torch.zeros(2, 2, 16).half()},
        {"out": torch.zeros(4, 16), "scale": 2, "flag": "not in the trace"},
        {"scale": torch.tensor(0.5)},
        {"x": torch.zeros(0, 16)},
    ],
)
def test_a_call_as_the_trace_describes_it_runs(arguments: dict[str, Any]) -> None:
    assert watched()(**{"x": X, **arguments}) == "ran"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": None}, "gather: argument 'x' is None"),
        ({"x": [1, 2]}, r"gather: argument 'x' is \[1, 2\]"),
        ({"scale": "2"}, "gather: argument 'scale' is '2'"),
        ({"x": X.double()}, "gather: argument 'x' is float64, but it takes float16, float32"),
        ({"bias": torch.zeros(16).half()}, "'bias' is float16, but 'x' is float32"),
        ({"indices": torch.tensor([0])}, "'indices' is int64, but it takes int32"),
        ({"x": torch.zeros(16)}, r"gather: x has the shape \(16,\), its axes are \(rows, dim\)"),
        ({"bias": torch.zeros(8)}, r"dim is 8 in bias of shape \(8,\) and 16 in x"),
        ({"out": torch.zeros(4, 8)}, r"'out' has the shape \(4, 8\), but the inputs say rows=4"),
        ({"out": torch.zeros(16)}, r"'out' has the shape \(16,\)"),
        ({"out": X.half()}, "'out' is float16, but 'x' is float32"),
        ({"x": torch.zeros(4, 12)}, r"gather: dim % 8 == 0 does not hold\n.*dim=12"),
        ({"scale": -1.0}, r"scale > 0 does not hold\n.*scale=-1.0"),
        (
            {"indices": torch.tensor([4], dtype=torch.int32)},
            "gather: indices goes to 4, x has 4 rows",
        ),
    ],
)
def test_what_the_trace_does_not_allow_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        watched()(**{"x": X, **arguments})


def test_one_axis_stands_for_any_shape() -> None:
    flat = TraceTemplate(
        axes={"n": Var("elements")},
        inputs={"x": Tensor(("n",))},
        outputs={"out": Tensor(("n",), dtype_from="x")},
        reference=lambda x: x,
    )
    assert watched(flat)(torch.zeros(2, 3, 4), out=torch.zeros(2, 3, 4)) == "ran"


def test_an_output_of_a_computed_size_may_have_room_for_more() -> None:
    trace = replace(
        TRACE,
        axes={**TRACE.axes, "half": Expr("rows // 2", "rows of the output")},
        outputs={"out": Tensor(("half", "dim"), dtype_from="x")},
    )
    assert watched(trace)(X, out=torch.zeros(3, 16)) == "ran"


def test_arguments_that_do_not_fit_are_the_calls_own_error() -> None:
    with pytest.raises(TypeError, match=r"gather\(\) got an unexpected keyword argument 'y'"):
        watched()(X, y=1)


def test_a_run_before_its_plan_is_its_own_error() -> None:
    def run(indices: Any) -> str:
        return "ran"

    assert watched(function=run)(None) == "ran"


def test_an_op_without_a_trace_runs_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("fictl.op.watch.validation.warn_once", said.append)
    declared = op(archs=">=8.0", dtypes="f32", mutates="")(gather).op  # type: ignore[attr-defined]
    assert observed(gather, declared, [Validation()])(X) == "ran"
    assert said[0].startswith("inputs are not validated: gather has no trace")


def test_data_is_not_read_while_a_graph_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    class OnGpu:
        shape, dtype, is_cuda = (4, 16), torch.float32, True

    trace = replace(TRACE, validate=lambda **inputs: pytest.fail("it was read"))
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    assert watched(trace)(OnGpu()) == "ran"
