"""Communication ops: what a bench.py declares of them, and their bandwidth as nccl-tests counts it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType

from fictl.errors import UsageError


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
