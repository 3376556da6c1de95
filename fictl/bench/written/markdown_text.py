"""Texts and tables of Markdown that a code host shows: no text of a result becomes markup there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fictl.printable import printable

# A pull request's comment holds 65536 characters.
MOST_ROWS = 150
_MARKUP = set("\\`*[]<>#+|~@&!$")


def plain(text: str) -> str:
    """Spell what Markdown, HTML or a code host would act on as entities: a mention, a link, a tag."""
    line = " ".join(printable(text, "").split())
    return "".join(f"&#{ord(letter)};" if letter in _MARKUP else letter for letter in line)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: int) -> Iterator[str]:
    """Yield the lines of a table whose cells are Markdown; those of columns 2 to `right` are numbers."""
    yield f"| {' | '.join(columns)} |"
    yield f"|{'|'.join('--:' if 0 < at < right else '---' for at in range(len(columns)))}|"
    yield from (f"| {' | '.join(row)} |" for row in rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        yield f"\nand {len(rows) - MOST_ROWS} more"


def folded(title: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield lines that are shown when the title is clicked."""
    yield from (f"<details><summary>{title}</summary>", "", *lines, "", "</details>")
