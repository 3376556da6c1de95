"""Parameter names that the function of `@op(backward=…)` may have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NEEDS = "needs_grad"


def results_of(mutates: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the results: the parameters in `mutates`, or `out` if it is empty."""
    return tuple(mutates) or ("out",)


def known_to_backward(parameters: Iterable[str], mutates: Sequence[str]) -> tuple[str, ...]:
    """Return all names: gradients of results, results, arguments, and needs_grad."""
    results = results_of(mutates)
    gradients = (f"grad_{name}" for name in results)
    return tuple(dict.fromkeys((*gradients, *results, *parameters, NEEDS)))
