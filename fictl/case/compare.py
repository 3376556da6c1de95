"""Comparison of results with their reference; messages say where they differ most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from fictl.case.poison import never_written
from fictl.trace.template import TOLERANCES, TraceTemplate

if TYPE_CHECKING:
    import torch


def assert_right(
    template: TraceTemplate,
    inputs: Mapping[str, Any],
    results: Mapping[str, Any],
    expected: Callable[[], Iterable[Any]],
    poisoned: bool = False,
) -> None:
    """Raise an AssertionError where a result is wrong.

    The template's judge decides, if it has one; else each result must be close to the expected one.

    inputs: by parameter, as they were before the call.
    results: by output.
    expected: returns the reference's results in output order; not called if there is a judge.
    """
    __tracebackhide__ = True
    if template.judge is not None:
        template.judge(inputs, results)
        return
    for name, value in zip(template.outputs, expected(), strict=True):
        assert_close(results[name], value, name, template.tolerances, poisoned)


def mismatch(
    template: TraceTemplate,
    inputs: Mapping[str, Any],
    results: Callable[[], Mapping[str, Any]],
    expected: Callable[[], Iterable[Any]],
) -> str:
    """Compare results and return the message of `assert_right`; '' if they are right."""
    try:
        assert_right(template, inputs, results(), expected)
    except AssertionError as error:
        return str(error)
    return ""


def assert_close(
    actual: torch.Tensor | float,
    expected: torch.Tensor | float,
    name: str = "out",
    tolerances: Mapping[str, tuple[float, float]] = TOLERANCES,
    poisoned: bool = False,
) -> None:
    """Raise an AssertionError where `actual` differs from `expected`, the fp64 reference.

    `poisoned`: the op was called among `poisoned_allocations`, so that a message can tell what it
    did not write.

    NaN and infinities must be in the same places. Where the reference is beyond the range of the
    result's dtype, the result must be infinite; in an 8-bit format it may also be the largest
    finite value, because CUDA's conversions saturate.
    """
    import torch

    __tracebackhide__ = True
    actual, expected = torch.as_tensor(actual), torch.as_tensor(expected)
    assert actual.shape == expected.shape, (
        f"{name} has shape {tuple(actual.shape)}, the reference {tuple(expected.shape)}"
    )
    dtype = str(actual.dtype).removeprefix("torch.")
    relative, absolute = tolerances.get(dtype, (0.0, 0.0))
    got, want = actual.to(torch.float64), expected.to(torch.float64)
    near = torch.isclose(got, want, rtol=relative, atol=absolute, equal_nan=True)
    if actual.dtype.is_floating_point:
        # Rounding gives infinity beyond the format's range, and also just below its end.
        limits = torch.finfo(actual.dtype)
        beyond = want.abs() > limits.max * (1 - relative)
        near |= beyond & (got == want.sign() * torch.inf)
        if limits.bits == 8:
            near |= beyond & (got == want.sign() * limits.max)
    wrong = int((~near).sum())
    if wrong:
        error = torch.where(near, 0.0, (got - want).abs()).nan_to_num(nan=float("inf"))
        left = ~near & (never_written(actual) if poisoned else near)
        if int(left.sum()) < wrong:  # Of what was written, the worst says more.
            error = torch.where(left, 0.0, error)
        at = _place(error.argmax(), got.shape)
        raise AssertionError(
            f"{name}: {wrong} of {got.numel()} elements differ; {_unwritten(left)}worst at {at}: "
            f"{got[at].item():.9g}, reference {want[at].item():.9g} "
            f"({dtype}: rtol {relative:g}, atol {absolute:g})"
        )


def _unwritten(left: torch.Tensor) -> str:
    """Say how many elements still hold what memory was filled with, and where; '' if none does.

    Why the bracket: a sum onto memory without a first value holds the same NaN.
    """
    count = int(left.sum())
    if not count:
        return ""
    elements = f"{count} element{'s were' if count > 1 else ' was'}"
    first = _place(left.flatten().byte().argmax(), left.shape)
    return f"{elements} never written (or only added to), the first at {first}; "


def _place(flat: torch.Tensor, shape: torch.Size) -> tuple[int, ...]:
    import torch

    return tuple(int(i) for i in torch.unravel_index(flat, shape))
