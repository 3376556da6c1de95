"""Sizes that tests of a brought kernel try."""

from __future__ import annotations

import pytest

from fictl.scaffold.new.brought.edge_sizes import edge_sizes, usual_sizes
from fictl.scaffold.new.signature import Signature, parse_tensor


def signature(inputs: tuple[str, ...], output: str) -> Signature:
    return Signature(
        tuple(map(parse_tensor, inputs)), (), (parse_tensor(output, fixed_sizes=False),)
    )


@pytest.mark.parametrize(
    ("inputs", "output", "edges", "usual"),
    [
        (
            ("x:rows,hidden",),
            "y:rows",
            ((1, 1), (3, 7), (5, 33), (2, 64), (17, 129)),
            (4, 64),
        ),
        # An index may be 0 or 1.
        (("t:v,d", "ids:n:i32"), "y:n,d", ((2, 2, 2), (3, 2, 7), (5, 3, 33)), (4, 3, 64)),
        # As many as a row's largest values that are asked for.
        (("x:rows,experts",), "w:rows,k=8", ((1, 8), (3, 8), (5, 33)), (4, 64)),
        # A half of it is a whole number.
        (("x:rows,hidden",), "y:rows,h=hidden//2", ((1, 2), (3, 8), (5, 34)), (4, 64)),
        (("x:n",), "y:one=1", ((1,), (2,), (7,), (33,)), (96,)),
        (("x:d=128",), "y:d", ((),), ()),
    ],
)
def test_they_are_tiny_odd_and_possible(
    inputs: tuple[str, ...],
    output: str,
    edges: tuple[tuple[int, ...], ...],
    usual: tuple[int, ...],
) -> None:
    op = signature(inputs, output)
    assert edge_sizes(op)[: len(edges)] == edges
    assert usual_sizes(op) == usual
