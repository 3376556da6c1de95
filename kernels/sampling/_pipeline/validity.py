"""Checks of a pipeline before it is compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

from .fused import FusedTemperatureSoftmaxOp
from .operators import SoftmaxOp
from .tensors import TensorType
from .typed_op import Op


class CompileError(ValueError):
    """A pipeline whose steps do not go together."""


# Raises CompileError for steps that must not be compiled.
ValidityCheck: TypeAlias = Callable[[list[Op]], None]


def single_softmax_rule(ops: Sequence[Op]) -> None:
    softmaxes = [op for op in ops if isinstance(op, SoftmaxOp | FusedTemperatureSoftmaxOp)]
    if len(softmaxes) > 1:
        raise CompileError(
            f"Multiple Softmax operators found: {len(softmaxes)}. Only one Softmax is allowed per "
            "pipeline."
        )


def indices_terminal_rule(ops: Sequence[Op]) -> None:
    for op, following in pairwise(ops):
        if op.OUT == TensorType.INDICES:
            raise CompileError(
                f"No operator may follow one that outputs Indices. Found "
                f"{type(following).__name__} after {type(op).__name__}, which outputs Indices."
            )


def get_default_validity_checks() -> list[ValidityCheck]:
    return [single_softmax_rule, indices_terminal_rule]
