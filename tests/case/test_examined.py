"""A baseline may be off by the rounding between its steps, and by no more."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from fictl.case.examined import Examined, examine
from fictl.trace import Tensor, TraceTemplate

TEMPLATE = TraceTemplate({}, {}, {"out": Tensor(())}, lambda: None)
X, Y, Z = torch.randn(3, 4096, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def silu_mul_add(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.silu(x) * y + z


def examined(
    change: Callable[[torch.Tensor], torch.Tensor] = lambda out: out,
    dtype: torch.dtype = torch.bfloat16,
    allowed: dict[str, tuple[float, float]] | None = None,
) -> Examined:
    """Eager torch's result in `dtype`, changed, against the fp64 reference of the same inputs."""
    rounded = [value.to(dtype) for value in (X, Y, Z)]
    result = change(silu_mul_add(*rounded))
    expected = silu_mul_add(*(value.double() for value in rounded))
    return examine(TEMPLATE, {}, lambda: {"out": result}, lambda: (expected,), allowed)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_eager_torch_is_right_and_how_far_it_is_off_is_told(dtype: torch.dtype) -> None:
    result = examined(dtype=dtype)
    assert result.problem == ""
    assert 1 < result.off < 100


def test_what_is_within_the_ops_tolerance_is_not_off() -> None:
    assert examined(dtype=torch.float64) == Examined("")


def last_left_out(out: torch.Tensor) -> torch.Tensor:
    out = out.clone()
    out[-8:] = 0
    return out


@pytest.mark.parametrize(
    "change",
    [
        lambda out: out * 1.1,
        lambda out: out.roll(1),
        torch.zeros_like,
        last_left_out,
        lambda out: torch.full_like(out, float("nan")),
        lambda out: out[:-1],
    ],
)
def test_what_computes_something_else_is_wrong(change) -> None:
    assert examined(change).problem.startswith("out")


def test_whole_numbers_are_exact() -> None:
    both = torch.arange(8), torch.arange(8)
    both[0][3] = 4
    result = examine(TEMPLATE, {}, lambda: {"out": both[0]}, lambda: (both[1],))
    assert "1 of 8 elements differ" in result.problem


def test_a_declared_tolerance_stands_in_place_of_the_usual_one() -> None:
    assert examined(allowed={"bfloat16": (0.0, 0.0)}).problem.startswith("out: ")
    loose = examined(lambda out: out * 1.1, allowed={"bfloat16": (0.2, 0.2)})
    assert loose.problem == ""
    assert loose.off > 1


def test_a_judge_decides_alone() -> None:
    template = TraceTemplate({}, {}, {"out": Tensor(())}, lambda: None, judge=lambda *_: None)
    assert examine(template, {}, dict, tuple) == Examined("")
