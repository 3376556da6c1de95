"""Reports on accesses: out of bounds, misaligned, of uninitialised memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fictl.sanitize.title import Title, number, with_article

# An address below it is an index from a null pointer.
_FIRST_PAGE = 4096
# Farther away, the nearest allocation is probably not the one that was meant.
_NEAR = 1 << 20


def access(match: re.Match[str], details: Sequence[str]) -> Title:
    space, what, size = match["space"], match["access"], number(match["size"] or "0")
    text = " ".join(details)
    facts: dict[str, Any] = {"space": space, "bytes": size}
    address = re.search(r"(?:Address|Access (?:to|at)) 0x([0-9a-f]+)", text)
    if address:
        facts["address"] = int(address[1], 16)
    words = f"{with_article(what)} of {size} bytes"
    if "misaligned" in text:
        return Title("misaligned", f"{words} at address {facts.get('address', 0):#x}", facts)
    if space == "global" and facts.get("address", _FIRST_PAGE) < _FIRST_PAGE:
        return Title("null-pointer", f"{words} at address {facts['address']:#x}", facts)
    return Title("out-of-bounds", f"{words}{_relation(text, facts)}", facts)


def _relation(text: str, facts: dict[str, Any]) -> str:
    """Position of the access relative to the nearest allocation."""
    near = re.search(
        r"is ([\d,]+) bytes? (after|before) the nearest allocation at 0x[0-9a-f]+ of size ([\d,]+)",
        text,
    )
    if near is None or number(near[1]) > _NEAR:
        memory = {"global": "outside of all allocations"}.get(
            facts["space"], f"outside of {facts['space']} memory"
        )
        where = f" at address {facts['address']:#x}" if "address" in facts else ""
        return f"{where}, {memory}"
    distance, side, size = number(near[1]), near[2], number(near[3])
    facts.update(distance=distance, side=side, allocation=size)
    return f", {distance} byte{'s' * (distance != 1)} {side} an allocation of {size} bytes"


def uninitialised(match: re.Match[str], details: Sequence[str]) -> Title:
    size = number(match["size"] or "0")
    facts = {"space": match["space"], "bytes": size}
    words = f"a read of {size} bytes of {match['space']} memory that nothing has written"
    return Title("uninitialised", words, facts)


def copied(match: re.Match[str], details: Sequence[str]) -> Title:
    """Report on a copy or a fill that the host called."""
    text = " ".join(details)
    by = re.search(r"on access by (\w+)", text)
    call = by[1] if by else "a call of the host"
    if "Uninitialized" in text:
        return Title("uninitialised", f"{call} reads memory that nothing has written")
    return Title("out-of-bounds", f"{call} goes beyond an allocation")
