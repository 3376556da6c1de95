"""Kinds: the template trees that an op can start from, found by folder, the user's own first."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fictl.errors import UsageError
from fictl.paths import data_root, files_below, matching
from fictl.toml_text import TomlError, parse_toml
from fictl.user_file import read_text

FILE = "kind.toml"


@dataclass(frozen=True)
class Kind:
    """A kind of op, as its kind.toml describes it. A pattern is a tensor such as `x:*rows,cols`, where `*rows` stands
    for one axis or more.

    `inputs` and `outputs` are what it takes and gives, and what an op has where nothing is said;
    `more` is what further inputs may look like. `expression` is empty, `pointwise`, `rows` (with
    reductions over the last axis), `weights` (the same, of which one is drawn), `reduction`
    (nothing is left of the last axis) or `score` (of a query and a key). `taken` are names that
    its files have for something else. `dtypes` are those where none are said, `accepts` all that it
    can. `calls` are functions of torch that an op of it can stand for. `guess` is when it is tried where no kind is named: 1 is first, 0 never. `kernel` is said
    beside the file of that name, `edit` is in the line of it where the computation stands.
    """

    name: str
    trees: tuple[Path, ...]
    summary: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    more: tuple[str, ...] = ()
    scalars: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    expression: str = ""
    default: str = ""
    dtypes: str = "f16 bf16 f32"
    accepts: str = ""
    archs: str = ">=7.5"
    devices: str = "cuda emu"
    kernel: str = "the kernel"
    edit: str = "__device__"
    guess: int = 0

    @property
    def family(self) -> str:
        """Default family of its ops."""
        return self.name.replace("-", "_")

    def files(self) -> dict[str, Path]:
        """Templates by their path in a project; later trees have precedence."""
        templates: dict[str, Path] = {}
        for tree in self.trees:
            for path in files_below(tree):
                if os.path.isfile(path) and path.name != FILE and "__pycache__" not in path.parts:
                    templates[path.relative_to(tree).as_posix()] = path
        return templates


_LISTS = ("inputs", "outputs", "more", "scalars", "taken", "calls")
_EXPRESSIONS = ("", "pointwise", "rows", "weights", "reduction", "score")
_KEYS = {field.name for field in fields(Kind)} - {"name", "trees"} | {"base"}


def kinds(own: Path | None = None) -> dict[str, Kind]:
    """Those that fictl ships and those in the folder `own`, which may replace them, by name."""
    places = _places(own)
    names = {path.parent.name for place in places for path in matching(place, f"[!_]*/{FILE}")}
    return {name: _read(name, places) for name in sorted(names)}


def find_kind(name: str, own: Path | None = None) -> Kind:
    places = _places(own)
    if not name.startswith("_") and any(os.path.isfile(place / name / FILE) for place in places):
        return _read(name, places)
    known = kinds(own)
    close = get_close_matches(name, known, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    raise UsageError(f"there is no kind {name!r}", f"one of {', '.join(known)}{meant}")


def kind_for(text: str) -> Kind | None:
    """The kind of ours that stands for a function of torch that is called in a text."""
    called = {*re.findall(r"(\w+)\(", text)}
    return next((kind for kind in kinds().values() if called & {*kind.calls}), None)


def find_part(name: str) -> Kind:
    """A tree of ours that is not a kind by itself; its name begins with '_'."""
    return _read(name, _places(None))


def _places(own: Path | None) -> list[Path]:
    if own is not None and not os.path.isdir(own):
        raise UsageError(
            f"the templates' folder {own} is not there", "[tool.fictl.templates] names it as op"
        )
    return [*([own] if own else []), data_root("templates") / "op"]


def _read(name: str, places: Sequence[Path]) -> Kind:
    path = _find(name, places)
    table = _table(path)
    trees = [path.parent]
    base = table.pop("base", "")
    while base:
        # Who replaces a kind may build on the one that it replaces.
        own = trees[0].name == base
        inherited = _find(base, places[places.index(trees[0].parent) + 1 :] if own else places)
        if inherited.parent in trees:
            raise UsageError(f"{path}: base {base!r} comes back to itself", "leave base out")
        trees.insert(0, inherited.parent)
        above = _table(inherited)
        base = above.pop("base", "")
        table = {**above, **table}
    missing = sorted({"summary", "inputs", "outputs"} - {*table})
    if missing:
        raise UsageError(f"{path} lacks {', '.join(missing)}", "the shipped kinds show how")
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
    return Kind(name, tuple(trees), **values)


def _find(name: str, places: Sequence[Path]) -> Path:
    for place in places:
        if os.path.isfile(place / name / FILE):
            return place / name / FILE
    raise UsageError(f"there is no template {name!r}", f"looked in {', '.join(map(str, places))}")


def _table(path: Path) -> dict[str, Any]:
    try:
        table: dict[str, Any] = parse_toml(read_text(path))
    except (OSError, UnicodeDecodeError, TomlError) as error:
        raise UsageError(f"{path}: {error}", "it is a TOML file") from None
    for key, value in table.items():
        if key not in _KEYS:
            raise UsageError(f"{path}: unknown key {key!r}", f"one of {', '.join(sorted(_KEYS))}")
        if not _is_sound(key, value):
            raise UsageError(f"{path}: {key} = {value!r}", "the shipped kinds show how")
    return table


def _is_sound(key: str, value: Any) -> bool:
    if key in _LISTS:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if key == "expression":
        return value in _EXPRESSIONS
    return isinstance(value, int if key == "guess" else str)
