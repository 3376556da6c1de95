"""Every claim of a page that a program can look up is true."""

from __future__ import annotations

import inspect
import re
import runpy
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import fictl
from fictl.cli import COMMANDS, application
from fictl.jit.lock_file import FILE as LOCK_FILE
from fictl.jit.store.entry import SCHEMA
from fictl.jit.store.installed import GROUP as STORES
from fictl.project import Project
from fictl.project.config import OWN_FILE
from fictl.project.discover import functions
from fictl.project.project import ENTRY_POINTS
from fictl.runnable.discovered import ENTRY_POINTS as BUILDERS
from fictl.schemas import FOLDER as SCHEMAS

from . import claims
from .claims import ROOT

PAGES = claims.pages()
INCLUDE = ROOT / "kernels" / "include"

# Names with dots that are no Python: files, groups of entry points, kinds of documents.
NO_PYTHON = {
    OWN_FILE,
    LOCK_FILE,
    ENTRY_POINTS,
    BUILDERS,
    STORES,
    SCHEMA.partition("/")[0],
    "fictl.history.entry",
}
# Options of other programs, by the word that says whose they are, or the page that is about them.
OTHERS = {
    "nvcc": {"--dryrun", "--compiler-bindir"},
    "docker": {"--cap-add"},
    "ncu": {"--clock-control"},
    "compute-sanitizer": {"--padding"},
    "ld": {"--no-undefined"},
    "vllm": {"--attention-config", "--attention-backend", "--no-enable-flashinfer-autotune"},
    "flashinfer-bench": {"--local"},
    "sglang": {"--disable-cuda-graph"},
    "docs/examples/serve.py": {"--model", "--prompt", "--compare", "--top-k", "--profile"},
    "pytest": {
        "--tb",
        "--full-trace",
        "--lf",
        "--pdb",
        "--trace",
        "--capture",
        "--sw",
        "--maxfail",
        "--fictl-seed",
    },
}
# FlashInfer's benchmark, which docs/measuring.md translates option by option.
TRANSLATED = {"measuring.md": re.compile(r"--[a-z]+(?:_[a-z]+)+|--routine|--backends|--testlist")}
# Written in another project: what FlashInfer's tutorial names.
THEIRS = {"tests/trace/example.py"}


def _name(page: Path) -> str:
    return f"{page.parent.name}/{page.name}"


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@cache
def _counted() -> dict[str, int]:
    found = list(functions(Project.shipped()))
    return {
        "functions": len(found),
        "families": len({folder.family for folder, _ in found}),
        "commands": len(COMMANDS),
        "kinds": len([*(ROOT / "templates/op").glob("[!_]*")]),
        "builders": len([*(ROOT / "fictl/runnable/builders").glob("[!_]*.py")]),
        "skills": len([*(ROOT / "skills").glob("*/SKILL.md")]),
    }


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_numbers_are_those_that_are_counted(page: Path) -> None:
    said = claims.counts(_text(page), [*_counted()])
    assert [(n, what) for n, what in said if n > 2 and n != _counted()[what]] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_files_and_folders_named_are_there(page: Path) -> None:
    places = claims.paths(_text(page)) - THEIRS
    made = set(re.findall(r"^(?:#|//) ([\w./-]+)$", claims.code(_text(page)), re.MULTILINE))
    missing = [p for p in places - made if not ((ROOT / p).exists() or (INCLUDE / p).exists())]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_tests_that_are_run_are_there(page: Path) -> None:
    """`pytest tests/…`, with a launcher or not; the page may have written the file."""
    text = claims.code(_text(page))
    made = set(re.findall(r"^# (tests/\S+)$", text, re.MULTILINE))
    run = set(re.findall(r"pytest (tests/[^\s`:]+)", text))
    assert {each for each in run - made if "<" not in each and not (ROOT / each).exists()} == set()


@cache
def _schema_names() -> set[str]:
    """As names of Python look like: up to a dash."""
    return {path.stem.partition("-")[0] for path in SCHEMAS.glob("*.json")}


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_python_names_are_there(page: Path) -> None:
    names = claims.dotted_names(_text(page)) - NO_PYTHON - _schema_names()
    assert [name for name in sorted(names) if not _resolves(name)] == []


@cache
def _resolves(name: str) -> bool:
    try:
        _object(name)
    except (AttributeError, ImportError):
        return False
    return True


def _object(name: str) -> Any:
    first, *rest = name.split(".")
    found, path = import_module(first), first
    for part in rest:
        path = f"{path}.{part}"
        found = getattr(found, part) if hasattr(found, part) else import_module(path)
    return found


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_sections_that_are_linked_to_are_there(page: Path) -> None:
    missing = [
        (place, section)
        for place, section in claims.anchors(_text(page))
        if section not in claims.headings(_text(page.parent / place if place else page))
    ]
    assert missing == []


@cache
def _root() -> Any:
    return application()


@cache
def _options() -> set[str]:
    found, left = {"--help", "--version"}, [_root()]
    while left:
        command = left.pop()
        left += getattr(command, "commands", {}).values()
        found.update(o for each in command.params for o in (*each.opts, *each.secondary_opts))
    return found


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_options_in_running_text_are_some_commands(page: Path) -> None:
    theirs = TRANSLATED.get(page.name)
    known = _options().union(*OTHERS.values())
    unknown = [
        (option, span)
        for option, span in claims.options(_text(page))
        if option not in known and not (theirs and theirs.fullmatch(option))
    ]
    assert unknown == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_commands_of_groups_are_there(page: Path) -> None:
    assert [line for line in claims.command_lines(_text(page)) if not _is_command(line)] == []


def _is_command(line: str) -> bool:
    command = _root()
    for word in line.split():
        inner = getattr(command, "commands", None)
        if not inner or not re.fullmatch(r"[a-z][a-z-]*", word):
            return True
        if word not in inner:
            return False
        command = inner[word]
    return True


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_targets_of_make_are_there(page: Path) -> None:
    there = set(re.findall(r"^([a-z]+):", _text(ROOT / "Makefile"), re.MULTILINE))
    assert claims.make_targets(_text(page)) <= there


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_extras_are_there(page: Path) -> None:
    table = _text(ROOT / "pyproject.toml").partition("[project.optional-dependencies]")[2]
    there = set(re.findall(r"^(\w+) = \[", table.partition("\n[")[0], re.MULTILINE))
    assert claims.extras(_text(page)) <= there


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_the_least_python_is_that_of_the_package(page: Path) -> None:
    (least,) = re.findall(r'requires-python = ">=(\S+)"', _text(ROOT / "pyproject.toml"))
    said = re.findall(r"Python (3\.\d+)(?:\+| or newer)", _text(page))
    assert set(said) <= {least}


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_calls_fit_the_functions(page: Path) -> None:
    own = set(re.findall(r"\b(?:def )?(\w+)(?: = |\(.*\):$)", _text(page), re.MULTILINE))
    calls = [call for call in claims.calls(_text(page)) if call.name not in own]
    shown = [call for call in calls if _known(call.name)]
    assert [call for call in shown if not any(_takes(f, call) for f in _known(call.name))] == []


@cache
def _public() -> dict[str, list[Any]]:
    """By their own names, the functions and classes that users import."""
    found: dict[str, list[Any]] = {}
    for place in (
        "fictl",
        "fictl.op",
        "fictl.jit",
        "fictl.trace",
        "fictl.testing",
        "fictl.bench",
        "fictl.profile",
        "fictl.compile",
        "fictl.tune",
    ):
        module = import_module(place)
        for name in getattr(module, "__all__", ()):
            found.setdefault(name, []).append(getattr(module, name))
    for _, declared in functions(Project.shipped()):
        found.setdefault(declared.name, []).append(getattr(fictl.ops, declared.name))
    return found


def _known(name: str) -> list[Any]:
    """What the name of a call may mean here; what is a page's own function means nothing."""
    if name.startswith("fictl."):
        return [_object(name)] if _resolves(name) else []
    head, _, last = name.rpartition(".")
    return _public().get(last, []) if head in ("", "flashinfer", "ops") else []


def _takes(function: Any, call: claims.Call) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    names = {each.name for each in parameters}
    places = [e for e in parameters if e.kind in (e.POSITIONAL_ONLY, e.POSITIONAL_OR_KEYWORD)]
    any_names = any(each.kind is each.VAR_KEYWORD for each in parameters)
    any_number = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    fits = call.positional <= len(places) or any_number
    return fits and (any_names or set(call.keywords) <= names | {"skip_check"})


def test_variables_of_flashinfer_that_steer_what_is_here_are_not_said_to_be_without_a_kernel() -> (
    None
):
    table = runpy.run_path(str(ROOT / "docs/counterparts.py"))["COUNTERPARTS"]
    folders = [folder for folder, _ in functions(Project.shipped())]
    here = {name.replace("_", "") for f in folders for name in (f.family, f.module)}
    stale = [
        name
        for name, why_none in table.items()
        if "not here" in why_none and here & set(name.lower().split("_")[1:])
    ]
    assert stale == []


def test_a_page_is_read_as_people_read_it() -> None:
    said = "Twelve functions, [99 functions](x.md), seventy-three kinds"
    assert [*claims.counts(said, ["functions", "kinds"])] == [
        (12, "functions"),
        (99, "functions"),
        (73, "kinds"),
    ]
    named = "see `fictl/nowhere.py`, `kernels/<family>/x`, `kernels/*/op.py` and `a/fictl/b`"
    assert claims.paths(named) == {"fictl/nowhere.py"}
    assert claims.dotted_names("`fictl.a.b` and\n```python\nfrom fictl.x import y, z\n```\n") == {
        "fictl.a.b",
        "fictl.x",
        "fictl.x.y",
        "fictl.x.z",
    }
    assert [*claims.calls("`f(x, y, z=1, …)`")] == [claims.Call("f", 2, ("z",))]
    assert claims.headings("## From `C++`, now\n") == {"from-c-now"}
    assert claims.options("`--nope 3` and `fictl test --other`") == {("--nope", "--nope 3")}
