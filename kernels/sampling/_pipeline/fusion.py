"""Rules by which neighbours in a pipeline become one step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .fused import (
    FusedProbsMinPSampleOp,
    FusedProbsTopKSampleOp,
    FusedProbsTopKTopPSampleOp,
    FusedProbsTopPSampleOp,
    FusedTemperatureSoftmaxOp,
    parameters_of,
)
from .operators import MinPOp, ProbsSampleOp, ProbsTopKOp, SoftmaxOp, TemperatureOp, TopPOp
from .typed_op import Op, ParameterizedOp


class FusionRule(NamedTuple):
    """Replacement of a window of adjacent steps.

    pattern: the classes of the steps, in their order; a subclass matches as well.
    guard: tells, for a window that matches, whether the rule applies.
    build: makes the step in its place, which takes and gives what the window does.
    prio: rules with a greater one are tried first, others in the order in which they were added.
    """

    pattern: tuple[type, ...]
    guard: Callable[[list[Op]], bool]
    build: Callable[[list[Op]], Op]
    prio: int = 0

    def matches(self, window: Sequence[Op]) -> bool:
        fits = len(window) == len(self.pattern) and all(map(isinstance, window, self.pattern))
        return fits and bool(self.guard([*window]))


def _always(fused: type[ParameterizedOp], *pattern: type, prio: int) -> FusionRule:
    return FusionRule(
        pattern, lambda window: True, lambda window: fused(**parameters_of(window)), prio
    )


def get_default_fusion_rules() -> list[FusionRule]:
    """Return the rules of a pipeline's steps that one kernel does together.

    TopK, TopP and Sample become one whether TopK is joint or not: both have a kernel here.
    """
    return [
        _always(FusedTemperatureSoftmaxOp, TemperatureOp, SoftmaxOp, prio=100),
        _always(FusedProbsTopKTopPSampleOp, ProbsTopKOp, TopPOp, ProbsSampleOp, prio=100),
        _always(FusedProbsTopKSampleOp, ProbsTopKOp, ProbsSampleOp, prio=10),
        _always(FusedProbsTopPSampleOp, TopPOp, ProbsSampleOp, prio=10),
        _always(FusedProbsMinPSampleOp, MinPOp, ProbsSampleOp, prio=10),
    ]
