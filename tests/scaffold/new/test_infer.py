"""What is left out is found in what is said."""

from __future__ import annotations

import pytest

from fictl.errors import UsageError
from fictl.scaffold.kinds.kind import Kind
from fictl.scaffold.new.infer import infer

POINTWISE = Kind(
    "pointwise",
    (),
    "",
    ("x:*n",),
    ("out:*n",),
    more=("*n",),
    scalars=("factor:float",),
    expression="pointwise",
    default="x * factor",
)
ROWS = Kind(
    "rows",
    (),
    "",
    ("x:*rows,cols",),
    ("out:*rows,cols",),
    more=("*rows,cols", "cols"),
    expression="rows",
)
REDUCTION = Kind(
    "reduction",
    (),
    "",
    ("x:*rows,cols",),
    ("out:*rows",),
    more=("*rows,cols",),
    expression="reduction",
)
MATRICES = Kind("gemm", (), "", ("a:m,k", "b:n,k"), ("out:m,n",))


def _said(kind: Kind, *inputs: str, scalars: tuple[str, ...] = (), text: str = "") -> str:
    signature, expression = infer(kind, inputs, scalars, (), text)
    taken = ", ".join(map(str, (*signature.inputs, *signature.scalars)))
    return f"{taken} -> {', '.join(map(str, signature.outputs))} = {expression}"


def test_nothing_said_is_the_kind_as_it_comes() -> None:
    assert _said(POINTWISE) == "x:n, factor:float -> out:n = x * factor"
    assert _said(MATRICES) == "a:m,k, b:n,k -> out:m,n = None"


def test_of_an_expression_the_first_name_is_the_tensor_and_others_are_numbers() -> None:
    assert _said(POINTWISE, text="y * a + b") == "y:n, a:float, b:float -> out:n = y * a + b"


def test_a_name_said_to_be_a_scalar_is_not_the_tensor() -> None:
    said = _said(POINTWISE, scalars=("a:float=2",), text="a * y")
    assert said == "y:n, a:float=2.0 -> out:n = a * y"


def test_inputs_given_are_the_tensors_and_the_output_has_their_shape() -> None:
    said = _said(POINTWISE, "x:b,h", "gate:b,h", text="x * sigmoid(gate)")
    assert said == "x:b,h, gate:b,h -> out:b,h = x * sigmoid(gate)"


def test_scalars_without_a_default_come_first() -> None:
    said = _said(POINTWISE, "x:n", scalars=("a:float=1", "b:float"), text="x * a * b")
    assert said.startswith("x:n, b:float, a:float=1.0 ->")


def test_without_an_expression_every_argument_is_in_one() -> None:
    assert _said(POINTWISE, "x:n", "y:n").endswith("= x * y")
    assert _said(REDUCTION, "x:n,d", "y:n,d").endswith("-> out:n = sum(x * y)")
    norm = _said(ROWS, "x:n,h", "w:h", scalars=("eps:float=1e-6",))
    assert norm.endswith("= x * rsqrt(mean(x * x) + eps) * w")


@pytest.mark.parametrize(
    ("kind", "inputs", "text", "message"),
    [
        (POINTWISE, ("x:n", "y:n"), "x * 2", "does not use y"),
        (POINTWISE, (), "2 + 3", "has no tensor in it"),
        (POINTWISE, (), "x / sum(x)", "goes over a row"),
        (REDUCTION, (), "x * 2", "leaves x as long as a row"),
        (REDUCTION, (), "x / sum(x)", "leaves x as long as a row"),
        (MATRICES, (), "a * b", "takes no expression"),
        (POINTWISE, (), "x * torch", "'torch' cannot name an argument"),
    ],
)
def test_what_does_not_go_together_is_refused(
    kind: Kind, inputs: tuple[str, ...], text: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        infer(kind, inputs, (), (), text)


def test_a_number_that_a_kernel_would_ignore_is_refused() -> None:
    with pytest.raises(UsageError, match=r"kind gemm takes no numbers, not alpha:float"):
        infer(MATRICES, (), ("alpha:float",), (), "")


NUMBERED = Kind("top", (), "", ("x:rows,cols",), ("y:rows,k",), scalars=("k:int=8", "up:bool=true"))


def test_a_finished_kernel_keeps_its_numbers_whatever_its_tensors_are_called() -> None:
    assert _said(NUMBERED, "z:n,m") == "z:n,m, k:int=8, up:bool=True -> y:n,k = None"
    others = ("up:bool", "k:int=3")
    assert _said(NUMBERED, scalars=others).startswith("x:rows,cols, up:bool, k:int=3 -> ")


@pytest.mark.parametrize("scalars", [("k:int",), ("k:float", "up:bool"), ("n:int", "up:bool")])
def test_a_finished_kernel_takes_no_other_numbers(scalars: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="kind top takes k:int=8, up:bool=true, not "):
        _said(NUMBERED, scalars=scalars)


def test_a_finished_kernel_has_its_sizes_from_the_call() -> None:
    with pytest.raises(
        UsageError, match="axis m has the size 64, and kind top takes any"
    ) as caught:
        _said(NUMBERED, "x:n,m=64")
    assert caught.value.hint.startswith("leave its size out: m;")
