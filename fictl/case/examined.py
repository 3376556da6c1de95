"""Results of a baseline, held against the op's tolerances and against wider ones of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fictl.case.compare import assert_close, mismatch
from fictl.trace.template import TraceTemplate

if TYPE_CHECKING:
    import torch

Tolerances = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Examined:
    """A problem with results, or ''; `off` is their largest error in tolerances of the op, or
    0 within them.
    """

    problem: str
    off: float = 0.0


def examine(
    template: TraceTemplate,
    inputs: Mapping[str, Any],
    results: Callable[[], Mapping[str, Any]],
    expected: Callable[[], tuple[Any, ...]],
    allowed: Tolerances | None = None,
) -> Examined:
    """Compare a baseline's results with the reference.

    Several kernels in a row round between their steps, so that errors are as large as what they
    add up, not as what is left of it. `allowed`: tolerances that bench.py declares instead.
    """
    if template.judge is not None:
        return Examined(mismatch(template, inputs, results, expected))
    try:
        named, wanted = results(), expected()
        return Examined("", _off(template, named, wanted, allowed))
    except AssertionError as error:
        return Examined(str(error))


def _off(
    template: TraceTemplate,
    results: Mapping[str, Any],
    expected: tuple[Any, ...],
    allowed: Tolerances | None,
) -> float:
    """Return the largest error, in tolerances of the op; raise where it is beyond the wider ones."""
    worst = 0.0
    for name, want in zip(template.outputs, expected, strict=True):
        try:
            assert_close(results[name], want, name, template.tolerances)
        except AssertionError:
            assert_close(results[name], want, name, allowed or widened(template.tolerances, want))
            worst = max(worst, _error(results[name], want, template.tolerances))
    return worst


def widened(tolerances: Tolerances, expected: torch.Tensor | float) -> Tolerances:
    """Add twice the relative tolerance of the largest value to the absolute one of each dtype."""
    largest = _largest(expected)
    return {
        dtype: (relative, absolute + 2 * relative * largest)
        for dtype, (relative, absolute) in tolerances.items()
    }


def _largest(expected: torch.Tensor | float) -> float:
    """Return the largest finite magnitude."""
    import torch

    values = torch.as_tensor(expected).to(torch.float64)
    finite = values[torch.isfinite(values)].abs()
    return float(finite.max()) if finite.numel() else 0.0


def _error(actual: Any, expected: Any, tolerances: Tolerances) -> float:
    """Return the largest error as a multiple of what the op may be off by at that element."""
    import torch

    got, want = (torch.as_tensor(value) for value in (actual, expected))
    relative, absolute = tolerances.get(str(got.dtype).removeprefix("torch."), (0.0, 0.0))
    got, want = got.to(torch.float64), want.to(torch.float64)
    shares = (got - want).abs() / (absolute + relative * want.abs())
    finite = shares[torch.isfinite(shares)]
    return float(finite.max()) if finite.numel() else 0.0
