"""Names that the function of `@op(backward=…)` may take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NEEDS = "needs_grad"


def results_of(mutates: Sequence[str]) -> tuple[str, ...]:
    """Results are called as what the op writes is, in that order; `out` where it writes nothing."""
    return tuple(mutates) or ("out",)


def known_to_backward(parameters: Iterable[str], mutates: Sequence[str]) -> tuple[str, ...]:
    """Gradients of results, results, arguments, and those of which a gradient is needed."""
    results = results_of(mutates)
    gradients = (f"grad_{name}" for name in results)
    return tuple(dict.fromkeys((*gradients, *results, *parameters, NEEDS)))
