"""Communication ops: what a bench.py declares of them, and their bandwidth as nccl-tests counts it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING

from fictl.errors import UsageError

if TYPE_CHECKING:
    from fictl.trace import Case


# Inputs of each rank are its own, and so are those of each copy.
_SEED_STRIDE = 7_368_787


def _shares(ranks: int) -> float:
    return (ranks - 1) / ranks


def _whole(ranks: int) -> float:
    return 1.0


# Of a message of one byte, the bytes that the busiest link of n ranks has to carry.
_FACTORS: Mapping[str, Callable[[int], float]] = {
    "all_reduce": lambda ranks: 2 * _shares(ranks),
    "all_gather": _shares,
    "reduce_scatter": _shares,
    "all_to_all": _shares,
    "gather": _shares,
    "scatter": _shares,
    "broadcast": _whole,
    "reduce": _whole,
    "send_recv": _whole,
}


@dataclass(frozen=True)
class Ranks:
    """A declaration, returned by `ranks()` of a bench.py: several ranks call its op together.

    collective: the one whose bandwidth it is compared with.
    of: the tensor whose bytes are the message; default: the largest one. It is a rank's whole one:
        of all_gather the output, of reduce_scatter the input.
    axis: the axis whose size is the number of ranks, if the trace has one.
    """

    collective: str
    of: str = ""
    axis: str = ""

    def __post_init__(self) -> None:
        if not is_counted(self.collective):
            raise UsageError(
                f"{self.collective!r} is not a collective whose bandwidth is counted",
                f"one of {', '.join(_FACTORS)}",
            )


def is_counted(collective: str) -> bool:
    return collective in _FACTORS


def bus_factor(collective: str, ranks: int) -> float:
    """Return bus bandwidth over algorithm bandwidth."""
    return _FACTORS[collective](ranks)


def declared_ranks(bench: ModuleType, function: str) -> Ranks | None:
    """Call `ranks()` of a bench.py, or `ranks(function)` if there are several functions."""
    declared = getattr(bench, "ranks", None)
    if declared is None:
        return None
    result = declared(function) if inspect.signature(declared).parameters else declared()
    if result is not None and not isinstance(result, Ranks):
        raise UsageError(
            f"ranks() of {bench.__name__} returns {result!r}", 'it returns Ranks("all_reduce")'
        )
    return result


def for_ranks(case: Case, declared: Ranks, ranks: int) -> Case:
    """Return the case with the number of ranks as the size of its axis, if it has one."""
    if not declared.axis:
        return case
    if declared.axis not in case.sizes:
        known = ", ".join(case.sizes)
        raise UsageError(f"ranks(): {case} has no axis {declared.axis!r}", f"it has {known}")
    return replace(case, sizes={**case.sizes, declared.axis: ranks})


def seed_of(seed: int, rank: int) -> int:
    """Return the seed of a rank's own inputs."""
    return seed + rank * _SEED_STRIDE
