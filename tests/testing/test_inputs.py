from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.errors import UsageError
from fictl.testing import make_inputs
from fictl.trace import Scalar, Tensor, TraceTemplate, Var

SIZES = {"rows": 3, "n": 64}


def make(inputs: dict[str, Any], dtype: str = "bfloat16", seed: int = 0) -> dict[str, Any]:
    template = TraceTemplate(
        axes={"rows": Var(""), "n": Var("")}, inputs=inputs, outputs={}, reference=lambda: None
    )
    return make_inputs(template, SIZES, dtype, "cpu", seed)


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
