"""What a page claims that a program can look up: numbers, files, names, commands, calls.

A code span or a fence is read as what it looks like; what stands for something else is written
as one sees it: `NAME`, `<family>`, `…`, `*`, `my_kernels/…`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

_FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"`([^`\n]+)`")
_TOPS = ("fictl", "kernels", "tests", "docs", "templates", "skills", ".ci")
_PLACE = re.compile(rf"(?<![\w./<>-])((?:{'|'.join(map(re.escape, _TOPS))})/[\w./<>{{}}*…-]*)")
_STANDS_FOR = re.compile(r"[<>*{}…]|\bNAME\b")
_DOTTED = re.compile(r"(?<![\w./-])fictl(?:\.[A-Za-z_]\w*)+")
_LINK = re.compile(r"\]\(([^)#:\s]*)#([^)\s]+)\)")
_OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*)")
_COMMAND = re.compile(r"(?:^|`|\$\(|\$ |&& )fictl ([a-z][^`\n]*)", re.MULTILINE)

_ONES = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
WORDS = {word: number for number, word in enumerate(_ONES, 1)}
for _at, _ten in enumerate(_TENS, 2):
    WORDS[_ten] = 10 * _at
    WORDS |= {f"{_ten}-{one}": 10 * _at + WORDS[one] for one in _ONES[:9]}


class Call(NamedTuple):
    """A call as it is shown: how many values without a name, and the names of the others."""

    name: str
    positional: int
    keywords: tuple[str, ...]


def pages() -> list[Path]:
    """All that people read; of a generated project, what they are given."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    found += sorted((ROOT / "skills").glob("*/SKILL.md"))
    return found + sorted((ROOT / "templates" / "project").glob("*.md"))


def prose(text: str) -> str:
    return _FENCE.sub("", text)


def spans(text: str) -> list[str]:
    """Code within lines."""
    return _SPAN.findall(prose(text))


def code(text: str) -> str:
    """Spans and fences, a line or more each."""
    return "\n".join(
        [*(f"`{span}`" for span in spans(text)), *(m[2] for m in _FENCE.finditer(text))]
    )


def counts(text: str, nouns: list[str]) -> Iterator[tuple[int, str]]:
    """`Forty-eight functions`, `48 functions`: each number with its noun."""
    numbers = "|".join(sorted(WORDS, key=len, reverse=True))
    pattern = rf"\b({numbers}|\d+)\]? ({'|'.join(nouns)})\b"
    for number, noun in re.findall(pattern, prose(text), re.IGNORECASE):
        yield WORDS.get(number.lower()) or int(number), noun.lower()


def paths(text: str) -> set[str]:
    """Files and folders of this repository that spans name, from a folder at its top on."""
    named = {place.rstrip(".") for span in spans(text) for place in _PLACE.findall(span)}
    return {place for place in named if not _STANDS_FOR.search(place)}


def dotted_names(text: str) -> set[str]:
    """`fictl.testing.make_inputs`, and what is imported from there."""
    named = {name for name in _DOTTED.findall(text) if not _STANDS_FOR.search(name)}
    for module, names in re.findall(r"from (fictl[\w.]*) import \(?([\w, \n]+)", code(text)):
        words = (name.split(" as ")[0].strip() for name in names.partition("\n\n")[0].split(","))
        named |= {f"{module}.{word}" for word in words if word.isidentifier()}
    return named


def anchors(text: str) -> list[tuple[str, str]]:
    return _LINK.findall(prose(text))


def headings(text: str) -> set[str]:
    """As links name them."""
    heads = re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", head.replace("`", "").lower()) for head in heads)
    return {head.strip().replace(" ", "-") for head in plain}


def options(text: str) -> set[tuple[str, str]]:
    """(option, span) of spans that are no command line of fictl's: of these the line says more."""
    return {
        (option, span)
        for span in spans(text)
        if not re.search(r"\bfictl ", span)
        for option in _OPTION.findall(span)
    }


def command_lines(text: str) -> list[str]:
    return _COMMAND.findall(code(text))


def make_targets(text: str) -> set[str]:
    return set(re.findall(r"(?:^|`)make ([a-z]+)", code(text), re.MULTILINE))


def extras(text: str) -> set[str]:
    """Of `pip install "fictl[…]"`."""
    named = re.findall(r"fictl\[([\w,]+)\]", text)
    return {extra for names in named for extra in names.split(",")}


def calls(text: str) -> Iterator[Call]:
    for piece in [
        *spans(text),
        *(m[2] for m in _FENCE.finditer(text) if m[1].startswith("python")),
    ]:
        try:
            tree = ast.parse(piece.replace(", …)", ")").replace("…", "...").strip())
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and not isinstance(node.func, ast.Call):
                yield _shown(node)


def _shown(node: ast.Call) -> Call:
    values = [each for each in node.args if not isinstance(each, ast.Starred)]
    given = [each for each in values if not (isinstance(each, ast.Constant) and each.value is ...)]
    named = tuple(each.arg for each in node.keywords if each.arg)
    return Call(ast.unparse(node.func), len(given), named)
