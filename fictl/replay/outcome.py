"""Outcome: what came of one dump."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

_EXIT_CODES = {"match": 0, "no reference": 0, "mismatch": 1, "error": 1, "refused": 2}


@dataclass(frozen=True)
class Outcome:
    """`detail` says what differs, what went wrong, or why there was nothing to compare."""

    dump: str
    op: str
    status: str
    detail: str = ""
    hint: str = ""
    device: str = ""
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self.status]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def worst(outcomes: list[Outcome]) -> int:
    """A call that went wrong counts more than a dump that was refused."""
    codes = {outcome.exit_code for outcome in outcomes}
    return 1 if 1 in codes else max(codes, default=0)
