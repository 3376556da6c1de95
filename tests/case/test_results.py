from __future__ import annotations

import pytest
import torch

from fictl.case.results import as_tuple, named_results, reference_results
from fictl.trace import Scalar, Tensor, TraceTemplate, Var

AXES = {"n": Var("elements")}
ROW = Tensor(("n",))


def template(*outputs: str) -> TraceTemplate:
    return TraceTemplate(AXES, {"x": ROW}, dict.fromkeys(outputs, ROW), lambda x: x)


def test_returned_values_are_the_outputs_in_their_order() -> None:
    assert named_results(template("a", "b"), {"x": 0}, (1, 2)) == {"a": 1, "b": 2}
    assert named_results(template("a", "b"), {"x": 0}, [1, 2]) == {"a": 1, "b": 2}


def test_an_output_that_was_passed_counts_and_not_what_is_returned() -> None:
    assert named_results(template("a", "b"), {"x": 0, "b": 7}, (1, 2)) == {"a": 1, "b": 7}
    assert named_results(template("a"), {"a": 7}, None) == {"a": 7}


def test_a_function_may_return_only_what_is_not_an_input() -> None:
    assert named_results(template("x", "norm"), {"x": 0}, 1) == {"x": 0, "norm": 1}


def test_none_is_a_result_that_was_not_asked_for() -> None:
    assert named_results(template("a"), {"x": 0}, (1, None)) == {"a": 1}


@pytest.mark.parametrize("returned", [(1, 2), ()])
def test_another_number_of_values_than_outputs_is_wrong(returned: tuple[int, ...]) -> None:
    text = f"it returned {len(returned)} values, its trace has the outputs out"
    with pytest.raises(AssertionError, match=text):
        named_results(template("out"), {}, returned)


def test_a_function_that_returns_nothing_must_be_given_its_outputs() -> None:
    with pytest.raises(AssertionError, match="it returned nothing, and has no argument out"):
        named_results(template("out"), {"x": 0}, None)


def test_the_reference_is_computed_in_fp64_and_integers_stay() -> None:
    seen = []
    inputs = {"x": ROW, "index": Tensor(("n",), dtype="int32"), "factor": Scalar("float32", 2.0)}

    def reference(x: torch.Tensor, index: torch.Tensor, factor: float) -> torch.Tensor:
        seen.extend((x.dtype, index.dtype, factor))
        return x * factor

    traced = TraceTemplate(AXES, inputs, {"out": ROW}, reference)
    arguments = {"x": torch.ones(2).half(), "index": torch.ones(2).int(), "factor": 2.0}
    (out,) = reference_results(traced, arguments)
    assert out.tolist() == [2.0, 2.0]
    assert seen == [torch.float64, torch.int32, 2.0]


def test_one_result_is_a_tuple_of_one() -> None:
    assert as_tuple(1) == (1,)
    assert as_tuple([1, 2]) == as_tuple((1, 2)) == (1, 2)
