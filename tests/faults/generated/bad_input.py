"""One generated input, what came of it, and the oracle that holds the one against the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

SECONDS = 20.0  # Of a command that takes a tenth: with other work on the machine it is no hang.
_LONGEST_LINE = 2000


@dataclass(frozen=True)
class BadInput:
    """A command line with its variables and the files that are laid out for it.

    `wants` is what may come of it: refused, accepted or either; a refusal is told by a line that
    holds one of `names`. Of one that is to be named, stderr does, whether it is refused or not. `files` are (path, kind, text); server.py knows the kinds.
    """

    group: str
    words: tuple[str, ...]
    wants: str
    names: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    files: tuple[tuple[str, str, str], ...] = ()

    def request(self) -> dict[str, Any]:
        return {
            "words": self.words,
            "variables": dict(self.variables),
            "files": self.files,
            "seconds": SECONDS,
        }


@dataclass(frozen=True)
class Outcome:
    """`changed` is what differs in the project, `outside` what differs anywhere else."""

    code: int
    out: str
    err: str
    hung: bool
    changed: tuple[str, ...]
    outside: tuple[str, ...]

    @property
    def errors(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith("error:")]


def faults(given: BadInput, seen: Outcome) -> Iterator[str]:
    """What is wrong with what came of it; nothing for a good tool."""
    if seen.hung:
        yield "hangs"
        return
    said = seen.out + seen.err
    if "Traceback" in said or "internal error" in said:
        yield "internal error"
    if seen.code not in (0, 1, 2, 3):
        yield f"exit code {seen.code}"
    if seen.outside:
        yield f"writes outside of its folder: {', '.join(seen.outside[:3])}"
    if any(len(line) > _LONGEST_LINE for line in seen.errors):
        yield "a line of error that nobody can read"
    if given.wants == "named" and not any(name in seen.err for name in given.names):
        yield f"is passed over in silence: {given.names[0]} is not named"
    if seen.code:
        yield from _refused(given, seen)
    elif given.wants == "refused":
        yield "is accepted"


def _refused(given: BadInput, seen: Outcome) -> Iterator[str]:
    if given.wants == "accepted":
        yield "is refused"
    if not seen.errors and not seen.out.strip():
        yield "fails without a word"
    if given.wants == "refused":
        if len(seen.errors) != 1:
            yield f"{len(seen.errors)} lines of error"
        if given.names and not any(name in seen.err for name in given.names):
            yield f"names none of {', '.join(given.names)[:200]}"
        if seen.changed:
            yield f"is refused, and changes {', '.join(seen.changed[:3])}"
