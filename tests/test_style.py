"""The English of code, comments and pages: what a reader would have to read twice is named, with what to write.

The rules are few and narrow: an opening without a verb or a noun, coinages for which the field has a word, names for
data that say nothing of it. Everything else is for reviewers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# A docstring that begins with one of these is a clause without a noun: "Of the ops named."
CLAUSES = {
    "And",
    "As",
    "Because",
    "But",
    "By",
    "For",
    "From",
    "How",
    "If",
    "In",
    "Of",
    "On",
    "Or",
    "That",
    "To",
    "Under",
    "What",
    "When",
    "Where",
    "Whether",
    "Which",
    "Who",
    "Whom",
    "Whose",
    "With",
    "Without",
}
# A participle or a determiner says nothing of the thing: message, entry, tensor.
NAMES = {"said", "found", "made", "each"}
NO_LONGER = r"(?!longer|more|less|fewer|larger|smaller|greater|later|earlier|better|worse|other)"
PHRASES = {
    r"(?<![Tt]here )\bis no " + NO_LONGER: "say 'is not a'",
    r"\bare neighbours\b": "say 'contiguous'",
    r"\bat any pitch\b": "say 'any stride'",
    r"\bluggage\b|\bdesk\b|\bkeeper\b|\bzygote's\b": "say bundle, evaluator, supervisor",
}
# What comments and pages have besides.
PROSE = PHRASES | {
    r"\b(?:must be|hold|of) neighbours\b": "say 'contiguous', or 'adjacent' of threads",
    r"\bneighbouring (?:elements|values|bytes)\b": "say 'contiguous' or 'adjacent'",
    r"\b(?:rows|lie|lies|that lie) at (?:a|one) pitch\b": "say 'with a row stride'",
    r"\bsays what it comes to\b": "say 'summarises'",
}
# A page or a comment that opens with one of these has no noun or verb to hold on to.
OPENINGS = {"Of", "Whether", "Whose", "Whom", "Who", "What", "That"}
GENERATED = {"cli.md", "settings.md", "ops.md"}
CPP = {".cuh", ".cu", ".h", ".cpp"}


def parts() -> dict[str, list[Path]]:
    """Python files of the tool and of the kernels, by package."""
    by_part: dict[str, list[Path]] = {}
    for path in sorted([*(ROOT / "fictl").rglob("*.py"), *(ROOT / "kernels").rglob("*.py")]):
        relative = path.relative_to(ROOT)
        part = "/".join(relative.parts[:2]) if len(relative.parts) > 2 else relative.parts[0]
        by_part.setdefault(part, []).append(relative)
    return by_part


def pages() -> list[Path]:
    """Markdown that people write: the README, the pages, the skills, the files of a new project."""
    found = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "skills").rglob("*.md")]
    found += [*ROOT.glob("*.md"), *(ROOT / "templates/project").glob("*.md")]
    return sorted(path.relative_to(ROOT) for path in found if path.name not in GENERATED)


def sources() -> dict[str, list[Path]]:
    """C++ and CUDA files, by folder: kernels/norm, kernels/include/norm, fictl/emu, templates."""
    by_part: dict[str, list[Path]] = {}
    for folder in ("kernels", "fictl/emu", "templates"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in CPP:
                relative = path.relative_to(ROOT)
                by_part.setdefault(_cpp_part(relative), []).append(relative)
    return by_part


def _cpp_part(path: Path) -> str:
    depth = {"fictl": 2, "templates": 1}.get(path.parts[0], 4 if "include" in path.parts else 2)
    return "/".join(path.parts[:depth])


PARTS = parts()
SOURCES = sources()


@pytest.fixture(params=PARTS)
def trees(request: pytest.FixtureRequest) -> list[tuple[Path, ast.Module]]:
    return [
        (path, ast.parse((ROOT / path).read_text(encoding="utf-8")))
        for path in PARTS[request.param]
    ]


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (
            text := ast.get_docstring(node)
        ):
            yield getattr(node, "lineno", 1), text


def bindings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def test_a_docstring_begins_with_a_verb_or_a_noun(trees: list[tuple[Path, ast.Module]]) -> None:
    assert not [
        f"{path}:{line} {text.splitlines()[0]}"
        for path, tree in trees
        for line, text in docstrings(tree)
        if text.split()[0].rstrip(",:") in CLAUSES
    ]


def test_names_say_what_they_hold(trees: list[tuple[Path, ast.Module]]) -> None:
    assert not [
        f"{path}:{line} {name}"
        for path, tree in trees
        for line, name in bindings(tree)
        if name in NAMES
    ]


def test_words_are_those_of_the_field(trees: list[tuple[Path, ast.Module]]) -> None:
    assert not [
        f"{path}:{node.lineno} {advice}: {match.group()!r}"
        for path, tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for pattern, advice in PHRASES.items()
        for match in re.finditer(pattern, node.value)
    ]


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of a page outside of fences, code spans and links taken out."""
    fenced = False
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)


def comments(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Lines of `//` comments, each with whether it is the first of its block."""
    before = False
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
        match = re.match(r"\s*// ?(.*)", line)
        if match:
            yield number, match[1], not before
        before = bool(match)


def advice(path: Path, number: int, line: str) -> Iterator[str]:
    for pattern, write in PROSE.items():
        for match in re.finditer(pattern, line):
            yield f"{path}:{number} {write}: {match.group()!r}"


def opening(path: Path, number: int, line: str) -> Iterator[str]:
    words = line.lstrip("# ").split()
    if words and words[0].rstrip(",:") in OPENINGS and not line.endswith("?"):
        yield f"{path}:{number} begin with a verb or a noun phrase: {line.lstrip('# ')[:60]!r}"


@pytest.mark.parametrize("page", pages(), ids=str)
def test_a_page_says_it_in_the_words_of_the_field(page: Path) -> None:
    assert not [told for number, line in prose(page) for told in advice(page, number, line)]


@pytest.mark.parametrize("page", pages(), ids=str)
def test_a_page_opens_with_a_sentence(page: Path) -> None:
    lines = [(n, line) for n, line in prose(page) if line.strip() and not line.startswith("<!--")]
    first = [(n, line) for n, line in lines if not line.startswith(("#", "---", "name:"))][:1]
    assert not [told for number, line in first for told in opening(page, number, line)]


@pytest.mark.parametrize("part", SOURCES)
def test_comments_are_in_the_words_of_the_field(part: str) -> None:
    assert not [
        told
        for path in SOURCES[part]
        for number, line, _ in comments(path)
        for told in advice(path, number, line)
    ]


@pytest.mark.parametrize("part", SOURCES)
def test_a_comment_opens_with_a_verb_or_a_noun(part: str) -> None:
    assert not [
        told
        for path in SOURCES[part]
        for number, line, is_first in comments(path)
        if is_first
        for told in opening(path, number, line)
    ]


def test_good_english_is_not_flagged() -> None:
    good = (
        "there is no op of that name",
        "it is no longer needed",
        "threads of adjacent rows",
        "a kernel with a row stride of 4096",
        "What is rebuilt when?",
    )
    here = Path("here.md")
    assert [
        told for line in good for told in (*advice(here, 1, line), *opening(here, 1, line))
    ] == []


def test_a_finding_says_what_to_write() -> None:
    assert [*advice(Path("a.md"), 3, "1 is no limit")] == ["a.md:3 say 'is not a': 'is no '"]
    assert [*opening(Path("a.h"), 4, "Of a row, the sum.")] == [
        "a.h:4 begin with a verb or a noun phrase: 'Of a row, the sum.'"
    ]
