"""The message of a rank that waits in a collective, to the process that started the ranks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RankHung:
    """The ranks do not go on: which one keeps the others waiting."""

    why: str
