"""What a tactic is remembered by: that of backends, and Var axes in powers of two."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from fictl.op.tactics.key import sources, tactic_key
from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var

TEMPLATE = TraceTemplate(
    axes={"n": Var(""), "m": Var(""), "d": Const("")},
    inputs={
        "q": Tensor(("n", "d")),
        "mask": Tensor(("n", "m"), optional=True),
        "scale": Scalar("float32"),
    },
    outputs={"out": Tensor(("n", "d"), dtype_from="q")},
    reference=lambda q, mask, scale: q,
)


def _attend(q: Any, mask: Any = None, scale: float = 1.0, causal: bool = False, out: Any = None):
    """Has every kind of parameter."""


def _key(*seen: str, alike: bool = True) -> dict[str, str]:
    parameters = list(inspect.signature(_attend).parameters.values())
    parts = tactic_key(parameters, seen, TEMPLATE, alike)
    return dict(zip((part.label for part in parts), sources(parts, "bits({})"), strict=True))


def test_dtypes_const_axes_and_buckets_of_var_axes_count() -> None:
    assert _key() == {
        "q": "q.dtype",
        "mask": "None if mask is None else mask.dtype",
        "d": "q.shape[-1]",
        "n<=": "bits(q.shape[:-1].numel())",
        "m<=": "None if mask is None else bits(mask.shape[-1])",
    }


@pytest.mark.parametrize("name", ["scale", "causal"])
def test_a_value_counts_where_candidates_name_it(name: str) -> None:
    assert _key(name)[name] == name


def test_an_output_does_not_count() -> None:
    assert "out" not in _key("out")


def test_where_devices_differ_they_count_and_have_no_name_in_a_file() -> None:
    assert _key(alike=False)[""] == "q.get_device()"
