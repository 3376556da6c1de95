"""Record what engines import of FlashInfer: python tests/compat/record_engines.py WHEEL ...

A wheel (`pip download --no-deps vllm==0.33.0`), or a folder NAME-VERSION with some files of an engine, is
read as text, by its syntax trees; nothing of it is imported, and nothing but names is kept. An
engine reaches a name in one of four ways:

always   at the import of a file, with no way round: the file needs the name to be imported at all
tried    inside `try`, with an `except` for its absence
inside   in a function, when it is called
asked    by hasattr, getattr, find_spec or a string, or as an attribute of a module
"""

from __future__ import annotations

import ast
import sys
import textwrap
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

ENGINES = Path(__file__).parents[2] / "fictl" / "compat" / "flashinfer" / "engines.txt"
THEIRS = "flashinfer"
WAYS = ("always", "tried", "inside", "asked")
HEAD = """\
# What engines import of FlashInfer, below `flashinfer.`: names alone. Written by
# tests/compat/record_engines.py from their wheels, which says what the four ways are.
"""
Site = tuple[str, str]  # The way, and the name below `flashinfer`.


@dataclass(frozen=True)
class Place:
    """Where a statement stands."""

    guarded: bool = False
    inside: bool = False

    @property
    def way(self) -> str:
        return "tried" if self.guarded else "inside" if self.inside else "always"


def sites(text: str) -> Iterator[Site]:
    """Names of FlashInfer's in a file of an engine."""
    tree = ast.parse(text)
    modules: dict[str, str] = {}
    for node, place in _placed(tree, Place()):
        yield from _imported(node, place, modules)
    for node in ast.walk(tree):
        yield from (("asked", name) for name in _asked(node, modules))


def _placed(node: ast.AST, place: Place) -> Iterator[tuple[ast.AST, Place]]:
    """Nodes that run, which is not what only type checkers read."""
    yield node, place
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        place = replace(place, inside=True)
    for field, value in ast.iter_fields(node):
        guards = isinstance(node, ast.Try) and field == "body" and any(map(_catches, node.handlers))
        within = replace(place, guarded=True) if guards else place
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _placed(child, within)


def _catches(handler: ast.ExceptHandler) -> bool:
    text = "Exception" if handler.type is None else ast.unparse(handler.type)
    return any(word in text for word in ("ImportError", "ModuleNotFoundError", "Exception"))


def _imported(node: ast.AST, place: Place, modules: dict[str, str]) -> Iterator[Site]:
    if isinstance(node, ast.ImportFrom) and not node.level and _is_theirs(node.module or ""):
        for each in node.names:
            whole = f"{node.module}.{each.name}"
            modules[each.asname or each.name] = whole
            yield place.way, _below(whole)
    elif isinstance(node, ast.Import):
        for each in node.names:
            if _is_theirs(each.name):
                modules[each.asname or THEIRS] = each.name if each.asname else THEIRS
                if each.name != THEIRS:
                    yield place.way, _below(each.name)


def _asked(node: ast.AST, modules: Mapping[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        whole = _resolved(node, modules)
        if whole is not None and whole.count(".") <= 3:
            yield _below(whole)
    if isinstance(node, ast.Call | ast.Tuple):
        words = node.args if isinstance(node, ast.Call) else node.elts
        yield from _spelled([*words], modules)


def _spelled(words: list[ast.expr], modules: Mapping[str, str]) -> Iterator[str]:
    """`("flashinfer.norm", "rmsnorm")`, `hasattr(flashinfer.norm, "rmsnorm")`, `("flashinfer.norm")`."""
    texts = [each.value if isinstance(each, ast.Constant) else None for each in words[:2]]
    first = texts[0] if texts else None
    if isinstance(first, str) and _is_theirs(first) and first.replace(".", "").isidentifier():
        second = texts[1] if len(texts) == 2 else None
        whole = f"{first}.{second}" if isinstance(second, str) and second.isidentifier() else first
        if whole != THEIRS:
            yield _below(whole)
    elif len(texts) == 2 and isinstance(texts[1], str) and texts[1].isidentifier():
        origin = _resolved(words[0], modules)
        if origin is not None:
            yield _below(f"{origin}.{texts[1]}")


def _resolved(node: ast.expr, modules: Mapping[str, str]) -> str | None:
    if isinstance(node, ast.Name):
        return modules.get(node.id)
    if isinstance(node, ast.Attribute):
        origin = _resolved(node.value, modules)
        return None if origin is None else f"{origin}.{node.attr}"
    return None


def _is_theirs(name: str) -> bool:
    return name.partition(".")[0] == THEIRS


def _below(name: str) -> str:
    return name.removeprefix(THEIRS).lstrip(".")


def texts(source: Path) -> Iterator[str]:
    """Files of an engine that name FlashInfer."""
    if source.is_dir():
        read = [path.read_text(encoding="utf-8") for path in sorted(source.rglob("*.py"))]
    else:
        with zipfile.ZipFile(source) as wheel:
            paths = [path for path in wheel.namelist() if path.endswith(".py")]
            read = [wheel.read(path).decode(errors="replace") for path in paths]
    return (text for text in read if THEIRS in text)


def reached(source: Path, theirs: frozenset[str]) -> dict[str, set[str]]:
    """Names by way; those that only look like FlashInfer's, as methods of a result, are left out."""
    ways: dict[str, set[str]] = {way: set() for way in WAYS}
    for text in texts(source):
        for way, name in sites(text):
            if name and (way != "asked" or name in theirs):
                ways[way].add(name)
    return ways


def paragraph(source: Path, theirs: frozenset[str]) -> str:
    name, version = source.name.removesuffix(".whl").split("-")[:2]
    lines = [f"{name} {version}"]
    for way, names in reached(source, theirs).items():
        wrapped = textwrap.wrap(" ".join(sorted(names)), 96, break_on_hyphens=False)
        lines += [f" {way}", *(f"  {line}" for line in wrapped)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    from record_names import every_name

    known = every_name(Path(sys.argv[1]))
    ENGINES.write_text(HEAD + "".join(paragraph(Path(each), known) for each in sys.argv[2:]))
