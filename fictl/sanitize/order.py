"""Reports on what orders threads: races and barriers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fictl.emu.report import Other, Place
from fictl.emu.symbols import plain_name
from fictl.sanitize.title import Title, number, with_article


def race(match: re.Match[str], details: Sequence[str]) -> Title:
    """Racecheck names the two lines, not the threads."""
    sides = [_side(match["side"]), *(_side(line[4:]) for line in details if line[:4] == "and ")]
    hazards = re.search(r"\[([\d,]+) hazards?\]", " ".join(details))
    first, second = sides[0], (sides[1:] or sides)[0]
    facts: dict[str, Any] = {"hazards": number(hazards[1]) if hazards else 1}
    said = f"{first.what} and {second.what} of shared memory that nothing orders"
    other = Other(second.what, second.place or Place(), None)
    return Title("race", said, facts, first.kernel, first.place, other)


def _side(text: str) -> Title:
    match = re.match(
        r"(?P<what>\w+) access.*? at (?P<function>.+?)\+0x[0-9a-f]+"
        r"(?: in (?P<file>.+?):(?P<line>\d+))?(?: \[.*)?$",
        text,
    )
    if match is None:
        return Title("race", "an access")
    place = Place(match["file"] or "", int(match["line"] or 0))
    kernel = plain_name(match["function"])
    return Title("race", with_article(match["what"].lower()), kernel=kernel, place=place)


def hazard(match: re.Match[str], details: Sequence[str]) -> Title:
    return Title("race", match[1])


def barrier(match: re.Match[str], details: Sequence[str]) -> Title:
    said = match[1].rstrip(".")
    if said.startswith("Divergent"):
        group = "a warp" if "warp" in said else "a block"
        return Title("divergent-barrier", f"not all threads of {group} come to this barrier")
    if said.startswith("Invalid arguments"):
        if any(re.search(r"syncwarp|shfl|vote|match", line) for line in details):
            return Title("bad-mask", "a mask that does not name the calling lane")
        return Title("barrier-mismatch", "a barrier for a number of threads that cannot be")
    return Title("barrier-mismatch", f"a barrier: {said[:1].lower()}{said[1:]}")
