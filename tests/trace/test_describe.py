from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.errors import UsageError
from fictl.trace import Const, Definition, Expr, Scalar, Tensor, TraceTemplate, Var
from fictl.trace.describe import definition, definition_name
from fictl.trace.extract import axis_sizes, case_dtypes, dtypes


def _offset(x: torch.Tensor, by: float) -> torch.Tensor:
    return x + by


def _reference(
    input: torch.Tensor, cache: torch.Tensor, by: float, bias: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    assert input.dtype == torch.float64
    out = _offset(input, by) if bias is None else _offset(input, by) + bias
    return out, cache.sum()


def template(**changes: Any) -> TraceTemplate:
    facts: dict[str, Any] = {
        "axes": {
            "rows": Var("tokens"),
            "dim": Const("width", "d"),
            "groups": Const("of bias"),
            "both": Expr("2 * dim", ""),
            "all": Expr("rows * dim", ""),
        },
        "inputs": {
            "hidden_states": Tensor(("rows", "dim"), param="input", doc="what goes in"),
            "cache": Tensor(("both",)),
            "by": Scalar("float32", 2.0),
            "bias": Tensor(("groups",), dtype_from="hidden_states", optional=True),
        },
        "outputs": {"out": Tensor(("rows", "dim"), dtype_from="cache"), "sum": Tensor(())},
        "reference": _reference,
        "constraints": ("rows > 0", "groups == dim"),
        "tags": ("status:verified",),
        "op_type": "offset",
    }
    return TraceTemplate(**{**facts, **changes})


def make(**changes: Any) -> Definition:
    given = {"input": torch.ones(3, 8).bfloat16(), "cache": torch.ones(16).bfloat16(), **changes}
    traced = template()
    return definition(traced, "k.ops.add", axis_sizes(traced, given), dtypes(traced, given))


def run(made: Definition, *arguments: Any) -> Any:
    namespace: dict[str, Any] = {}
    exec(made.reference, namespace)
    return namespace["run"](*arguments)


def test_axes_that_follow_from_constants_are_constants_the_others_are_constraints() -> None:
    made = make()
    assert made.const_axes == {"dim": 8, "both": 16}
    assert made.to_dict()["axes"]["all"] == {"type": "var"}
    assert made.constraints == ("rows > 0", "all == rows * dim")


def test_what_is_not_passed_is_no_input() -> None:
    assert [*make().inputs] == ["hidden_states", "cache", "by"]
    assert [*make(bias=torch.ones(8)).inputs] == ["hidden_states", "cache", "by", "bias"]


def test_it_is_in_the_published_format(published) -> None:
    found = published(make(bias=torch.ones(8)).to_json())
    assert found.tags == ["fi_api:k.ops.add", "status:verified"]
    assert found.inputs["by"].shape is None
    assert found.inputs["hidden_states"].description == "what goes in"


def test_its_reference_runs_alone_in_fp64_and_rounds_once() -> None:
    made = make()
    x = torch.randn(3, 8).bfloat16()
    out, total = run(made, x, torch.ones(16).bfloat16(), 2.0)
    assert torch.equal(out, (x.double() + 2.0).bfloat16())
    assert (total.dtype, total.item()) == (torch.bfloat16, 16.0)


def test_eight_bits_end_at_their_largest_number() -> None:
    x, cache = torch.zeros(3, 8).bfloat16(), torch.ones(16).to(torch.float8_e4m3fn)
    out, _ = run(make(cache=cache), x, cache, 1000.0)
    assert out.float().unique().tolist() == [448.0]


def test_its_reference_takes_what_is_passed() -> None:
    arguments = [torch.zeros(3, 8).bfloat16(), torch.ones(16).bfloat16(), 2.0, torch.ones(8)]
    out, _ = run(make(bias=torch.ones(8)), *arguments)
    assert out.unique().tolist() == [3.0]


def names() -> set[str]:
    half, wide = torch.ones(3, 8).half(), torch.ones(16)
    return {
        make().name,
        make(input=half).name,
        make(cache=wide).name,
        make(input=torch.ones(3, 8), cache=wide.bfloat16()).name,
        make(bias=torch.ones(8).bfloat16()).name,
        make(bias=torch.ones(8)).name,
        make(input=torch.ones(3, 4).bfloat16(), cache=torch.ones(8).bfloat16()).name,
    }


def test_whatever_differs_is_in_the_name() -> None:
    assert names() == {
        "add_d8_bf16",
        "add_d8_f16_bf16",
        "add_d8_bf16_f32",
        "add_d8_f32_bf16",
        "add_d8_groups8_bf16_bias",
        "add_d8_groups8_bf16_bias-f32_bias",
        "add_d4_bf16",
    }


def test_a_call_and_its_case_have_one_name() -> None:
    traced = template()
    sizes = traced.check_sizes({"rows": 5, "dim": 8}, absent={"groups"})
    name = definition_name(traced, "k.ops.add", sizes, case_dtypes(traced, "bfloat16", ()))
    assert name == make().name


def test_packed_bits_can_be_said() -> None:
    made = make(cache=torch.ones(16, dtype=torch.uint8))
    assert made.inputs["cache"].dtype == "uint8"


def test_a_lambda_without_torch_in_its_file_gets_it(tmp_path, monkeypatch) -> None:
    path = tmp_path / "plain_trace.py"
    path.write_text("from __future__ import annotations\n\nplain = lambda x: x + x\n")
    monkeypatch.syspath_prepend(tmp_path)
    from plain_trace import plain

    traced = TraceTemplate({"n": Var("")}, {"x": Tensor(("n",))}, {"y": Tensor(("n",))}, plain)
    made = definition(traced, "k.ops.twice", {"n": 2}, {"x": "float32", "y": "float32"})
    assert run(made, torch.ones(2)).tolist() == [2.0, 2.0]


def test_a_reference_that_takes_the_name_run_is_refused(tmp_path, monkeypatch) -> None:
    path = tmp_path / "running_trace.py"
    path.write_text("def run(x):\n    return x\n")
    monkeypatch.syspath_prepend(tmp_path)
    from running_trace import run as taken

    traced = TraceTemplate({"n": Var("")}, {"x": Tensor(("n",))}, {}, taken)
    with pytest.raises(UsageError, match="running_trace: the reference defines the name run"):
        definition(traced, "k.ops.x", {"n": 2}, {"x": "float32"})


def test_an_op_without_outputs_has_no_definition() -> None:
    traced = TraceTemplate({"n": Var("")}, {"input": Tensor(("n",))}, {}, _check)
    with pytest.raises(UsageError, match=r"x at .* makes no definition: outputs: .* at least 1"):
        definition(traced, "k.ops.x", {"n": 2}, {"input": "float32"})


def _check(input: torch.Tensor) -> None:
    assert input.dtype == torch.float64
