"""Three-way merge of a text by lines, with git's marks where both sides changed the same lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MARK = re.compile(r"^(<{7} |={7}$|>{7} )", re.MULTILINE)

Lines = Sequence[str]


@dataclass(frozen=True)
class Merged:
    """`conflicts` are the numbers of the lines where a conflict begins."""

    text: str
    conflicts: tuple[int, ...] = ()


def merge(base: str, mine: str, now: str, label: str) -> Merged:
    """Bring the changes from `base` to `now` into `mine`; `label` names the side of `now` in marks.

    A text that has CRLF at the end of each line keeps it; in a mixed one these lines are changed ones.
    """
    if is_crlf(mine):
        merged = merge(as_lf(base), as_lf(mine), as_lf(now), label)
        return Merged(merged.text.replace("\n", "\r\n"), merged.conflicts)
    lines: list[str] = []
    conflicts: list[int] = []
    for theirs, ours, before in _regions(*map(lines_of, (base, mine, now))):
        if ours in (before, theirs):
            lines += theirs
        elif theirs == before:
            lines += ours
        else:
            start, end = _alike(ours, theirs)
            lines += ours[:start]
            conflicts.append(len(lines) + 1)
            lines += _marked(
                ours[start : len(ours) - end], theirs[start : len(theirs) - end], label
            )
            lines += ours[len(ours) - end :]
    return Merged("".join(lines), tuple(conflicts))


def marks_in(text: str) -> list[int]:
    """Lines that begin a conflict which nobody has resolved."""
    text = as_lf(text)
    marks = [(mark[0][0], text.count("\n", 0, mark.start()) + 1) for mark in _MARK.finditer(text)]
    triples = zip(marks, marks[1:], marks[2:], strict=False)
    return [a[1] for a, b, c in triples if a[0] + b[0] + c[0] == "<=>"]


def is_crlf(text: str) -> bool:
    """Tell if each of its lines ends so, and there is one at least."""
    return "\r\n" in text and text.count("\r\n") == text.count("\n")


def as_lf(text: str) -> str:
    return text.replace("\r\n", "\n")


def lines_of(text: str) -> list[str]:
    """Lines with their ends; nothing but a line feed ends one."""
    return _LINE.findall(text)


def _regions(base: Lines, mine: Lines, now: Lines) -> Iterator[tuple[list[str], ...]]:
    """(now, mine, base) of each stretch: alternately where they differ, and where all are alike."""
    at_base = at_mine = at_now = 0
    for start, end, in_mine, in_now in _common(base, mine, now):
        yield (
            list(now[at_now:in_now]),
            list(mine[at_mine:in_mine]),
            list(base[at_base:start]),
        )
        same = list(base[start:end])
        yield same, same, same
        length = end - start
        at_base, at_mine, at_now = end, in_mine + length, in_now + length


def _common(base: Lines, mine: Lines, now: Lines) -> Iterator[tuple[int, int, int, int]]:
    """Stretches of the base that both have: from, to, and where they begin in each. The end is last."""
    ours, theirs = _matches(base, mine), _matches(base, now)
    i = j = 0
    while i < len(ours) and j < len(theirs):
        (a, in_mine, n), (b, in_now, m) = ours[i], theirs[j]
        start, end = max(a, b), min(a + n, b + m)
        if start < end:
            yield start, end, in_mine + start - a, in_now + start - b
        if a + n < b + m:
            i += 1
        else:
            j += 1
    yield len(base), len(base), len(mine), len(now)


def _matches(base: Lines, other: Lines) -> list[tuple[int, int, int]]:
    """Matching blocks; what is alike at both ends needs no search."""
    start, end = _alike(base, other)
    inner = SequenceMatcher(
        None, base[start : len(base) - end], other[start : len(other) - end], autojunk=False
    )
    blocks = [(a + start, b + start, n) for a, b, n in inner.get_matching_blocks() if n]
    return [(0, 0, start), *blocks, (len(base) - end, len(other) - end, end)]


def _alike(one: Lines, other: Lines) -> tuple[int, int]:
    """Numbers of lines that are alike at the beginning, and at the end behind those."""
    most = min(len(one), len(other))
    start = next((n for n in range(most) if one[n] != other[n]), most)
    left = most - start
    return start, next((n for n in range(left) if one[-1 - n] != other[-1 - n]), left)


def _marked(ours: Lines, theirs: Lines, label: str) -> Iterator[str]:
    yield "<<<<<<< yours\n"
    yield from map(_ended, ours)
    yield "=======\n"
    yield from map(_ended, theirs)
    yield f">>>>>>> {label}\n"


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n"
