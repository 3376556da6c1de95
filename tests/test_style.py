"""The English of the code: docstrings that begin with a verb or a noun, names that say what they hold."""

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


def parts() -> dict[str, list[Path]]:
    """Python files of the tool and of the kernels, by package."""
    by_part: dict[str, list[Path]] = {}
    for path in sorted([*(ROOT / "fictl").rglob("*.py"), *(ROOT / "kernels").rglob("*.py")]):
        relative = path.relative_to(ROOT)
        part = "/".join(relative.parts[:2]) if len(relative.parts) > 2 else relative.parts[0]
        by_part.setdefault(part, []).append(relative)
    return by_part


PARTS = parts()


@pytest.fixture(params=PARTS)
def trees(request: pytest.FixtureRequest) -> list[tuple[Path, ast.Module]]:
    return [
        (path, ast.parse((ROOT / path).read_text(encoding="utf-8")))
        for path in PARTS[request.param]
    ]


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and (text := ast.get_docstring(node)):
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
