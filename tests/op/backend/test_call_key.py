"""What a choice of backend is remembered by: no more than the checks may have looked at."""

from __future__ import annotations

import inspect

import pytest

from fictl.op.backend.call_key import is_value, key_parts
from fictl.trace import Const, Tensor, TraceTemplate, Var

TEMPLATE = TraceTemplate(
    axes={"n": Var(""), "d": Const(""), "h": Const("")},
    inputs={"q": Tensor(("n", "h", "d")), "k": Tensor(("n", "d"))},
    outputs={"out": Tensor(("n", "h", "d"), dtype_from="q")},
    reference=lambda q, k: q,
)


def _attention(q, k, scale=1.0, backend="auto", out=None): ...


def _parts(*seen: str, template: TraceTemplate | None = TEMPLATE, alike: bool = True) -> list[str]:
    parameters = list(inspect.signature(_attention).parameters.values())
    return key_parts(parameters, seen, template, alike)[0]


def test_what_no_check_names_is_left_out() -> None:
    assert _parts("backend") == ["backend"]


def test_of_a_tensor_the_dtype_and_the_const_axes_count() -> None:
    assert _parts("k") == ["k.dtype", "k.shape[-1]"]


def test_an_axis_that_two_tensors_share_is_read_once() -> None:
    assert _parts("q", "k") == ["q.dtype", "k.dtype", "q.shape[-2]", "q.shape[-1]"]


def test_a_tensor_that_may_be_left_out_is_looked_at_if_it_is_there() -> None:
    assert _parts("out")[0] == "None if out is None else out.dtype"


def test_the_device_counts_where_they_differ() -> None:
    assert _parts("backend", alike=False) == ["backend", "q.get_device()"]


def test_without_a_trace_every_size_counts() -> None:
    parts = _parts("backend", template=None)
    assert len(parts) == 5
    assert all(".shape" in part for part in parts)


@pytest.mark.parametrize(("value", "keeps"), [(1.5, True), ((1, "a"), True), ([1], False)])
def test_only_what_cannot_change_may_stand_in_a_key(value: object, keeps: bool) -> None:
    assert is_value(value) is keeps
