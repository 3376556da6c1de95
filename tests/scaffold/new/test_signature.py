"""Tensors and numbers from the words of a command line."""

from __future__ import annotations

import pytest

from fictl.errors import UsageError
from fictl.scaffold.new.signature import Scalar, Signature, parse_scalar, parse_tensor


def _signature(*inputs: str, scalars: tuple[str, ...] = (), outputs: tuple[str, ...]) -> Signature:
    return Signature(
        tuple(map(parse_tensor, inputs)),
        tuple(map(parse_scalar, scalars)),
        tuple(parse_tensor(each, fixed_sizes=False) for each in outputs),
    )


def test_a_tensor_is_a_name_and_axes_and_perhaps_a_dtype() -> None:
    tensor = parse_tensor("ids:n,k=8:i32")
    assert (tensor.name, tensor.axis_names, tensor.dtype) == ("ids", ("n", "k"), "int32")
    assert [axis.size for axis in tensor.axes] == [None, 8]


@pytest.mark.parametrize(
    "text", ["x", "x:", ":n", "x:n:i32:f16", "x:n m", "x:n,,d", "x:n,d=0", "x:d=k", "x:n:", "3:n"]
)
def test_what_is_no_tensor_says_how_one_is_written(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_tensor(text)
    assert caught.value.hint


def test_a_dtype_we_lack_names_those_we_have() -> None:
    with pytest.raises(UsageError, match="unknown dtype 'f12'") as caught:
        parse_tensor("x:n:f12")
    assert "bf16" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "scalar"),
    [
        ("eps:float=1e-6", Scalar("eps", "float", 1e-6)),
        ("s", Scalar("s", "float")),
        ("k:int", Scalar("k", "int")),
        ("flag:bool=false", Scalar("flag", "bool", False)),
        ("s=2", Scalar("s", "float", 2.0)),
    ],
)
def test_a_scalar(text: str, scalar: Scalar) -> None:
    assert parse_scalar(text) == scalar


@pytest.mark.parametrize("text", ["eps:half", "eps:float=x", "k:int=1.5", "b:bool=2", "a b", ""])
def test_what_is_no_scalar_says_how_one_is_written(text: str) -> None:
    with pytest.raises(UsageError):
        parse_scalar(text)


def test_a_result_along_an_axis_that_no_input_has_is_refused() -> None:
    with pytest.raises(UsageError, match="output y:k names 'k', which is an axis of no input"):
        _signature("x:n,d", outputs=("y:k",))


def test_a_result_may_follow_from_axes_and_scalars() -> None:
    made = _signature("x:n,d", scalars=("k:int=4",), outputs=("y:n,half=d//2", "z:n,m=d*k"))
    assert [(axis.name, axis.text) for axis in made.axes][2:] == [("half", "d//2"), ("m", "d*k")]


def test_two_arguments_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="two arguments are called 'x'"):
        _signature("x:n", "x:n", outputs=("out:n",))


def test_one_axis_of_two_sizes_is_refused() -> None:
    with pytest.raises(UsageError, match="axis d is 64 and 128"):
        _signature("x:n,d=64", "y:n,d=128", outputs=("out:n",))


def test_a_size_said_once_counts_everywhere() -> None:
    made = _signature("x:n,d", "y:d=64", outputs=("out:n,d",))
    assert {axis.name: axis.size for axis in made.axes} == {"n": None, "d": 64}
