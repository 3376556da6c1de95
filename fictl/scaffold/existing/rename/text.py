"""Walking over a text once: paths and qualified names that lead to an op, and words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from fictl.scaffold.existing.rename.renaming import Renaming

WORD = re.compile(r"[A-Za-z_]\w*")

Place = tuple[str, Callable[["re.Match[str]"], str]]


def places(renaming: Renaming) -> tuple[Place, ...]:
    """`elementwise/scale.cuh`, `tests/kernels/elementwise/test_scale.py`, `elementwise.scale`."""
    old, new = renaming.before, renaming.after

    def path(match: re.Match[str]) -> str:
        return f"{new.family}/{renaming.respell(match['stem'])}"

    tests = (path.stem for path in old.tests)
    stems = {old.module, old.test.stem, *tests, *(header.stem for header in old.headers)}
    one = "|".join(sorted(map(re.escape, stems), reverse=True))
    # What others have at a place of the same name is not meant.
    mine = r"\b" if old.project.is_shipped else r"(?<!fictl/)(?<!fictl\.kernels\.)\b"
    return (
        (rf"{mine}{old.family}/(?P<stem>{one})\b", path),
        (rf"{mine}{old.family}\.{old.module}\b", lambda _: f"{new.family}.{new.module}"),
    )


def substitute(text: str, matches: Iterable[Place], word: Callable[[re.Match[str]], str]) -> str:
    """One pass, so that nothing is renamed twice; `word` sees what is in none of the places."""
    rules = tuple(matches)
    every = "|".join(f"(?P<_{i}>{pattern})" for i, (pattern, _) in enumerate(rules))
    pattern = re.compile(f"{every}|{WORD.pattern}" if every else WORD.pattern)

    def replace(match: re.Match[str]) -> str:
        for index, (_, replacement) in enumerate(rules):
            if match[f"_{index}"] is not None:
                return replacement(match)
        return word(match)

    return pattern.sub(replace, text)


def is_attribute(match: re.Match[str]) -> bool:
    """`torch.scale` in a text: something else has that name."""
    before = match.string[max(match.start() - 2, 0) : match.start()]
    return len(before) == 2 and before[1] == "." and (before[0].isalnum() or before[0] in "_)]")
