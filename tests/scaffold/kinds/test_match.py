"""Signatures held against what a kind takes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fictl.errors import UsageError
from fictl.scaffold.kinds.kind import Kind
from fictl.scaffold.kinds.match import Bound, bind, expand, match
from fictl.scaffold.new.signature import Signature, parse_tensor

ROWS = Kind("rows", (), "", ("x:*rows,cols",), ("out:*rows,cols",), more=("*rows,cols", "cols"))
RAGGED = Kind("ragged", (), "", ("indptr:ends:i32", "x:rows,dim"), ("out:segments=ends-1,dim",))


def _matched(kind: Kind, inputs: Sequence[str], outputs: Sequence[str]) -> Bound:
    made = tuple(parse_tensor(each, fixed_sizes=False) for each in outputs)
    return match(kind, Signature(tuple(map(parse_tensor, inputs)), (), made))


def test_a_star_stands_for_one_axis_or_more() -> None:
    found = _matched(ROWS, ["x:b,s,h"], ["y:b,s,h"])
    assert found == {"rows": ("b", "s"), "cols": ("h",)}


def test_further_inputs_have_one_of_the_shapes_for_them() -> None:
    assert _matched(ROWS, ["x:n,h", "w:h", "y:n,h"], ["out:n,h"])


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        (["x:h"], ["y:h"]),
        (["x:n,h"], ["y:n"]),
        (["x:n,h"], ["y:h,n"]),
        (["x:n,h", "w:n"], ["y:n,h"]),
        (["x:n,h:i32"], ["y:n,h"]),
        (["x:n,h"], ["y:n,h", "z:n,h"]),
    ],
)
def test_another_shape_is_refused_with_what_the_kind_takes(
    inputs: list[str], outputs: list[str]
) -> None:
    with pytest.raises(UsageError, match=f"kind rows cannot be {inputs[0]}") as caught:
        _matched(ROWS, inputs, outputs)
    assert caught.value.hint.startswith("it takes x:*rows,cols, and more of *rows,cols or cols")


def test_an_axis_that_follows_from_others_is_matched_by_its_name() -> None:
    found = _matched(RAGGED, ["p:starts:i32", "v:t,d"], ["s:sums=starts-1,d"])
    assert found["segments"] == ("sums",)


def test_a_dtype_is_asked_for_where_the_pattern_has_one() -> None:
    with pytest.raises(UsageError, match="cannot be p:starts, v:t,d"):
        _matched(RAGGED, ["p:starts", "v:t,d"], ["s:sums=starts-1,d"])


def test_a_pattern_becomes_a_tensor_with_the_axes_that_are_known() -> None:
    inputs = [parse_tensor("x:b,s,h")]
    assert expand("out:*rows,cols") == "out:rows,cols"
    assert expand("out:*rows,cols", bind(ROWS.inputs, inputs)) == "out:b,s,h"
    bound = bind(RAGGED.inputs, [parse_tensor("p:starts:i32"), parse_tensor("v:t,d")])
    assert expand(RAGGED.outputs[0], bound) == "out:segments=starts-1,d"


def test_of_several_dtypes_a_pattern_takes_any_and_becomes_the_first() -> None:
    kind = Kind("quantize", (), "", ("x:n",), ("q:n:e4m3|i8",))
    assert expand(kind.outputs[0]) == "q:n:e4m3"
    assert _matched(kind, ["x:m"], ["q:m:i8"]) == {"n": ("m",)}
    for other in ("q:m", "q:m:e5m2"):
        with pytest.raises(UsageError, match=f"cannot be x:m -> {other}"):
            _matched(kind, ["x:m"], [other])
