"""Reports on thread order: races and barriers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fictl.emu.report import Other, Place
from fictl.emu.symbols import plain_name
from fictl.sanitize.title import Title, number, with_article


def race(match: re.Match[str], details: Sequence[str]) -> Title:
    """Report on a race, of which racecheck gives the two lines but not the threads."""
    sides = [_side(match["side"]), *(_side(line[4:]) for line in details if line[:4] == "and ")]
    hazards = re.search(r"\[([\d,]+) hazards?\]", " ".join(details))
    first, second = sides[0], (sides[1:] or sides)[0]
    facts: dict[str, Any] = {"hazards": number(hazards[1]) if hazards else 1}
    words = f"{first.what} and {second.what} of shared memory that nothing orders"
    other = Other(second.what, second.place or Place(), None)
    return Title("race", words, facts, first.kernel, first.place, other)


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
    words = match[1].rstrip(".")
    if words.startswith("Divergent"):
        group = "a warp" if "warp" in words else "a block"
        return Title("divergent-barrier", f"not all threads of {group} come to this barrier")
    if words.startswith("Invalid arguments"):
        if any(re.search(r"syncwarp|shfl|vote|match", line) for line in details):
            return Title("bad-mask", "a mask that does not name the calling lane")
        return Title("barrier-mismatch", "a barrier for a number of threads that cannot be")
    return Title("barrier-mismatch", f"a barrier: {words[:1].lower()}{words[1:]}")
