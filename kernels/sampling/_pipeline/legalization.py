"""Steps of processors, each for what the one before gives."""

from __future__ import annotations

from collections.abc import Sequence

from .processors import LogitsProcessor
from .tensors import TensorType
from .typed_op import Op


class LegalizationError(ValueError):
    """Processors that cannot follow one another, or cannot be first."""


def legalize_processors(
    processors: Sequence[LogitsProcessor], initial_type: TensorType = TensorType.LOGITS
) -> list[Op]:
    """Return the steps of all processors, of which the first is given tensors of `initial_type`."""
    if not processors:
        raise LegalizationError("Cannot legalize empty processor list")
    ops: list[Op] = []
    given = initial_type
    for place, processor in enumerate(processors):
        ops += _steps(place, processor, given)
        given = ops[-1].OUT
    return ops


def _steps(place: int, processor: LogitsProcessor, given: TensorType) -> list[Op]:
    name = type(processor).__name__
    try:
        steps = processor.legalize(given)
    except Exception as error:
        raise LegalizationError(
            f"Failed to legalize processor {place} ({name}): {error}"
        ) from error
    if not steps:
        raise LegalizationError(
            f"Failed to legalize processor {place} ({name}): Processor {name} produced no ops"
        )
    return list(steps)


def infer_initial_type(processors: Sequence[LogitsProcessor]) -> TensorType:
    """Return the one type that the first processor takes."""
    if not processors:
        return TensorType.LOGITS
    name = type(processors[0]).__name__
    taken = [
        given for given in (TensorType.LOGITS, TensorType.PROBS) if _takes(processors[0], given)
    ]
    if len(taken) > 1:
        raise LegalizationError(
            f"Cannot infer input type: {name} can accept both LOGITS and PROBS. "
            "Please specify input_type explicitly when creating the LogitsPipe."
        )
    if not taken:
        raise LegalizationError(
            f"Processor {name} cannot accept standard pipeline inputs (LOGITS or PROBS)"
        )
    return taken[0]


def _takes(processor: LogitsProcessor, given: TensorType) -> bool:
    try:
        processor.legalize(given)
    except ValueError:
        return False
    return True
