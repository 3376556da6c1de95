from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.errors import UsageError
from fictl.testing import make_inputs
from fictl.trace import Expr, Scalar, Tensor, TraceTemplate, Var
from fictl.trace.template import EXTREMES

SIZES = {"rows": 3, "n": 64}


def make(
    inputs: dict[str, Any], dtype: str = "bfloat16", seed: int = 0, values: str = "normal"
) -> dict[str, Any]:
    template = TraceTemplate(
        axes={"rows": Var(""), "n": Var("")}, inputs=inputs, outputs={}, reference=lambda: None
    )
    return make_inputs(template, SIZES, dtype, "cpu", seed, values=values)


def test_a_tensor_has_its_axes_sizes_and_the_cases_dtype() -> None:
    made = make({"input": Tensor(("rows", "n"))})["input"]
    assert (made.shape, made.dtype, made.device.type) == ((3, 64), torch.bfloat16, "cpu")


def test_a_dtype_of_its_own_wins() -> None:
    assert make({"table": Tensor(("n",), dtype="float32")})["table"].dtype == torch.float32


def test_a_dtype_is_taken_from_another_input() -> None:
    inputs = {
        "cache": Tensor(("n",), dtype="float8_e4m3fn"),
        "q": Tensor(("n",), dtype_from="cache"),
    }
    assert make(inputs)["q"].dtype == torch.float8_e4m3fn


def test_scalars_are_the_traces_values_in_the_order_of_parameters() -> None:
    made = make(
        {"input": Tensor(("n",)), "factor": Scalar("float32", 0.5), "causal": Scalar("b8", True)}
    )
    assert list(made) == ["input", "factor", "causal"]
    assert (made["factor"], made["causal"]) == (0.5, True)


def test_the_same_seed_gives_the_same_numbers() -> None:
    inputs = {"a": Tensor(("n",)), "b": Tensor(("n",))}
    first, again, other = make(inputs), make(inputs), make(inputs, seed=1)
    assert torch.equal(first["a"], again["a"])
    assert not torch.equal(first["a"], other["a"])
    assert not torch.equal(first["a"], first["b"])


def test_integers_are_small_and_of_both_signs() -> None:
    made = make({"index": Tensor(("rows", "n"))}, "int32")["index"]
    assert made.dtype == torch.int32
    assert -8 <= int(made.min()) < 0 < int(made.max()) <= 8


def test_the_random_state_of_the_process_is_left_alone() -> None:
    before = torch.random.get_rng_state()
    make({"input": Tensor(("n",))})
    assert torch.equal(torch.random.get_rng_state(), before)


def test_sizes_are_checked_first() -> None:
    template = TraceTemplate(
        {"n": Var("")}, {"input": Tensor(("n",))}, {}, lambda: None, ("n < 4",)
    )
    with pytest.raises(UsageError, match="breaks 'n < 4'"):
        make_inputs(template, {"n": 1 << 60}, "float16", "cpu")


def traced(**changes: Any) -> TraceTemplate:
    facts: dict[str, Any] = {
        "axes": {"rows": Var(""), "n": Expr("2 * rows", ""), "groups": Var("")},
        "inputs": {
            "indptr": Tensor(("rows",), dtype="int32"),
            "hidden_states": Tensor(("n",), param="input"),
            "bias": Tensor(("groups",), dtype_from="hidden_states", optional=True),
            "rows": Scalar("int64"),
        },
        "outputs": {},
        "reference": lambda indptr, input, bias, rows: (),
    }
    return TraceTemplate(**{**facts, **changes})


def test_an_optional_input_is_none_unless_a_case_passes_it() -> None:
    assert make_inputs(traced(), {"rows": 3}, "float16", "cpu")["bias"] is None
    given = make_inputs(traced(), {"rows": 3, "groups": 5}, "float16", "cpu", passing=["bias"])
    assert (given["bias"].shape, given["bias"].dtype) == ((5,), torch.float16)


def test_a_scalar_is_the_trace_s_unless_a_case_has_another() -> None:
    scaled = traced(inputs={**traced().inputs, "scale": Scalar("float32", 0.5)})
    assert make_inputs(scaled, {"rows": 3}, "float16", "cpu")["scale"] == 0.5
    made = make_inputs(scaled, {"rows": 3}, "float16", "cpu", scalars={"scale": 2.0})
    assert (made["scale"], made["rows"]) == (2.0, 3)


def test_computed_axes_and_scalars_of_an_axis_have_its_size() -> None:
    made = make_inputs(traced(), {"rows": 3}, "float16", "cpu")
    assert (made["input"].shape, made["rows"]) == ((6,), 3)


def test_init_makes_what_random_numbers_cannot_be() -> None:
    def init(sizes: Any, dtype: Any, device: str, generator: Any) -> Any:
        assert (sizes, dtype, device) == ({"rows": 3, "n": 6}, torch.float16, "cpu")
        return {"indptr": torch.arange(sizes["rows"])}

    made = make_inputs(traced(init=init), {"rows": 3}, "float16", "cpu")
    assert made["indptr"].tolist() == [0, 1, 2]
    assert made["input"].shape == (6,)


def test_an_init_that_makes_what_is_no_input_is_refused() -> None:
    template = traced(init=lambda sizes, dtype, device, generator: {"page_table": None})
    with pytest.raises(UsageError, match="init makes page_table, which is not an input"):
        make_inputs(template, {"rows": 3}, "float16", "cpu")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "float8_e5m2"])
def test_large_and_small_values_are_the_normal_ones_times_a_power_of_two(dtype: str) -> None:
    inputs = {"x": Tensor(("rows", "n"))}
    made = {kind: make(inputs, dtype, values=kind)["x"].double() for kind in ("normal", *EXTREMES)}
    assert not made["zeros"].any()
    for kind, factor in (("small", 2.0**-10), ("large", 2.0**12)):
        near = {"rtol": 0.3, "atol": 1e-4}
        torch.testing.assert_close(made[kind], made["normal"] * factor, **near)
        assert bool(made[kind].isfinite().all())


def test_large_values_stay_within_the_range_of_eight_bits() -> None:
    made = make({"x": Tensor(("rows", "n"))}, "float8_e4m3fn", values="large")["x"].double()
    assert bool(made.isfinite().all())
    assert float(made.abs().max()) == 448


def test_a_nan_and_an_infinity_stand_somewhere_and_nothing_else_changes() -> None:
    made = make({"x": Tensor(("rows", "n"))}, values="nonfinite")["x"]
    assert (int(made.isnan().sum()), int(made.isinf().sum())) == (1, 1)
    normal = make({"x": Tensor(("rows", "n"))})["x"]
    assert int((made != normal).sum()) == 2


def test_nothing_stays_nothing() -> None:
    template = TraceTemplate({"n": Var("")}, {"x": Tensor(("n",))}, {}, lambda x: ())
    made = make_inputs(template, {"n": 0}, "float16", "cpu", values="nonfinite")
    assert made["x"].shape == (0,)


def test_integers_scalars_and_what_init_makes_have_no_extremes() -> None:
    inputs = {"x": Tensor(("n",)), "factor": Scalar("float32", 0.5)}
    assert make(inputs, "int32", values="zeros")["x"].any()
    assert make(inputs, values="zeros")["factor"] == 0.5
    template = traced(init=lambda sizes, dtype, device, generator: {"input": torch.ones(6)})
    made = make_inputs(template, {"rows": 3}, "float16", "cpu", values="zeros")
    assert made["input"].tolist() == [1.0] * 6
