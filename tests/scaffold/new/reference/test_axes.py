"""Axes of a call: what the sizes of an example leave open is said or refused."""

from __future__ import annotations

import pytest

from fictl.errors import UsageError
from fictl.scaffold.new.reference.axes import Axes
from fictl.scaffold.new.reference.call import CallValue
from fictl.scaffold.new.reference.parameters import ReferenceParameter

Shape = tuple[int, ...]


def read(
    inputs: dict[str, Shape], outputs: dict[str, Shape], example: bool = True, *said: str
) -> tuple[Axes, list[str], list[str]]:
    axes = Axes(from_example=example)
    tensors = [ReferenceParameter(name, "tensor") for name in inputs]
    values = {name: CallValue(shape, "float32") for name, shape in inputs.items()}
    results = [CallValue(shape, _dtype(name)) for name, shape in outputs.items()]
    texts = axes.inputs(tensors, values)
    named = [ReferenceParameter(name, "tensor") for name in outputs]
    return axes, texts, axes.outputs(named, results, said)


def _dtype(name: str) -> str:
    return "int32" if name == "idx" else "float32"


@pytest.mark.parametrize(
    ("x", "w", "readings"),
    [
        ((4, 8), (4, 2), "rows // 2, hidden // 4, or 2 in every call"),
        ((3, 10), (3, 5), "hidden // 2, or 5 in every call"),
        ((2, 8), (2, 2), "rows, hidden // 4, or 2 in every call"),
        ((4, 16), (4, 4), "rows, hidden // 4, or 4 in every call"),
    ],
)
def test_a_size_that_may_be_several_things_is_refused(x: Shape, w: Shape, readings: str) -> None:
    with pytest.raises(UsageError) as error:
        read({"x": x}, {"w": w, "idx": w})
    assert f"dimension 1 of the output w is {w[1]} in the example" in error.value.message
    assert f"it may be {readings}" in error.value.message
    paste = f"--output w:rows,k={w[1]} --output idx:rows,k={w[1]}:i32"
    assert error.value.hint.endswith(paste)


def test_what_the_hint_tells_to_type_is_taken() -> None:
    said = ("w:rows,k=2", "idx:rows,k=2:i32")
    assert read({"x": (4, 8)}, {"w": (4, 2), "idx": (4, 2)}, True, *said)[2] == [*said]


def test_a_part_of_a_long_row_is_taken_and_said() -> None:
    axes, _, outputs = read({"x": (3, 64)}, {"out": (3, 32)})
    assert outputs == ["out:rows,hidden_over_2=hidden // 2"]
    (guess,) = axes.guesses
    assert guess.text == (
        "out's hidden_over_2 is hidden // 2, 32 in the example; if it is 32 in every call"
    )
    assert guess.instead == "--output out:rows,k=32"


def test_sizes_that_are_invented_are_no_guess() -> None:
    axes, _, outputs = read({"x": (22, 26)}, {"out": (22, 13)}, example=False)
    assert (outputs, axes.guesses) == (["out:rows,hidden_over_2=hidden // 2"], ())


@pytest.mark.parametrize("example", [True, False])
def test_a_size_of_no_axis_is_refused_with_the_line_that_fixes_it(example: bool) -> None:
    with pytest.raises(UsageError) as error:
        read({"x": (22, 26)}, {"w": (22, 3)}, example)
    assert "is 3, which follows from no axis: rows is 22, hidden is 26" in error.value.message
    assert error.value.hint.endswith("if it is 3 in every call: --output w:rows,k=3")


def test_dimensions_of_one_tensor_that_are_equal_by_chance_are_said() -> None:
    axes, inputs, outputs = read({"x": (8, 8)}, {"out": (8, 8)})
    assert (inputs, outputs) == (["x:rows,rows"], ["out:rows,rows"])
    assert axes.guesses[0].text.startswith("the dimensions of x that are 8 in the example are one")
    assert axes.guesses[0].instead == "--input x:rows_0,rows_1"
    assert read({"x": (3, 8), "w": (8,)}, {"out": (3, 8)})[0].guesses == ()


def test_all_outputs_are_said_or_none() -> None:
    with pytest.raises(UsageError, match="--output names 1 of 2 outputs") as error:
        read({"x": (4, 8)}, {"w": (4, 2), "idx": (4, 2)}, True, "w:rows,k=2")
    assert error.value.hint == "say each, in the order of the return: w, idx"
