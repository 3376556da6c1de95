"""Plans for FlashInfer's public names that are not served: the recorded list public.txt."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from fictl.compat.flashinfer._lists import paragraphs

SERVED, PLANNED, REFUSED = "served", "planned", "refused"


class Plan(NamedTuple):
    """Status of a name as long as it is not served, and why, or what serves until then."""

    status: str
    reason: str

    def __str__(self) -> str:
        return f"planned: {self.reason}" if self.status == PLANNED else self.reason


@cache
def plans() -> Mapping[str, Plan]:
    """Plans of the public names; of those that are served, the reason is empty."""
    by_name = {}
    for (head,), names in paragraphs("public.txt"):
        status, _, reason = head.partition(": ")
        by_name.update(dict.fromkeys(names, Plan(status, reason)))
    return by_name
