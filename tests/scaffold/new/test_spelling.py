"""A signature's arguments, in Python, in a trace and in C++."""

from __future__ import annotations

from fictl.scaffold.new.signature import Signature, parse_scalar, parse_tensor
from fictl.scaffold.new.spelling import Spelling

SPELLED = Spelling(
    Signature(
        (parse_tensor("ids:n,k=8:i32"), parse_tensor("x:n,d")),
        (parse_scalar("s:float"), parse_scalar("flag:bool=true")),
        (parse_tensor("out:n,half=d//2", fixed_sizes=False),),
    )
)


def test_parameters_of_the_public_function() -> None:
    assert SPELLED.parameters == [
        "ids: torch.Tensor",
        "x: torch.Tensor",
        "s: float",
        "flag: bool = True",
        "out: torch.Tensor | None = None",
    ]


def test_a_reference_has_no_outputs_and_no_defaults() -> None:
    assert SPELLED.reference_parameters[2:] == ["s: float", "flag: bool"]
    assert SPELLED.arguments == ["ids", "x", "s", "flag"]


def test_views_come_before_numbers_and_outputs_first() -> None:
    assert SPELLED.views == ["View out", "View ids", "View x", "double s", "bool flag"]
    assert SPELLED.passed == ["out", "ids", "x", "s", "flag"]


def test_the_trace_knows_what_varies_what_is_fixed_and_what_follows() -> None:
    assert SPELLED.traced_axes == [
        '"n": Var("changes from call to call")',
        '"k": Const("fixed", value=8)',
        '"d": Const("fixed by a model")',
        '"half": Expr("d//2", "follows from the others")',
    ]
    assert SPELLED.trace_names == ["Const", "Expr", "Scalar", "Tensor", "TraceTemplate", "Var"]


def test_dtypes_are_said_or_those_of_the_first_input_that_has_none() -> None:
    assert SPELLED.traced_inputs == [
        '"ids": Tensor(("n", "k"), dtype="int32")',
        '"x": Tensor(("n", "d"))',
        '"s": Scalar("float32", 1.5)',
        '"flag": Scalar("bool", True)',
    ]
    assert SPELLED.traced_outputs == ['"out": Tensor(("n", "half"), dtype_from="x")']
