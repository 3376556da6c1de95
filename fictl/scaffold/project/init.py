"""`fictl init`: what a folder lacks to be a project; what is there already stays as it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from fictl.arch import parse_archs
from fictl.errors import UsageError
from fictl.paths import data_root, real
from fictl.project import Project
from fictl.project.config import OWN_FILE, SHARED_FILE, Config
from fictl.scaffold.kinds.render import render
from fictl.scaffold.new.guess import Guess
from fictl.scaffold.new.names import check_project, snake
from fictl.scaffold.plan.plan import Plan
from fictl.scaffold.project.existing_build import advice, build_file, is_packaged, with_table

# The template tree, in the order that it is shown in.
_NOTES = {
    OWN_FILE: "the name, and what is built without a GPU",
    SHARED_FILE: "pip install -e .",
    "setup.py": "type checkers see it after pip install -e .",
    "{{ name }}/__init__.py": "import {name}; {name}.ops",
    "{{ name }}/py.typed": "it has types",
    "{{ kernels }}/README.md": "what an op is made of",
    "README.md": "how to go on",
    "AGENTS.md": "where coding agents find their instructions",
    ".github/workflows/kernels.yml": "check, build, emulated tests and sanitizer, where there is no GPU; reports; wheels and shared builds",
    ".pre-commit-config.yaml": "fictl check and the formatters, before a commit",
    ".clang-format": "how C++ is written",
    ".gitignore": "what is made, not written",
}
# A repository that is packaged its own way goes on being packaged that way.
_PACKAGING = (SHARED_FILE, "setup.py", "{{ name }}/__init__.py", "{{ name }}/py.typed")


@dataclass(frozen=True)
class InitPlan(Plan):
    """Plan of the project `name`; `advice` is what its owner has to do, because fictl does not;
    `guesses` say where the name is not as it was typed.
    """

    name: str = ""
    advice: tuple[str, ...] = ()
    guesses: tuple[Guess, ...] = ()


@dataclass(frozen=True)
class _Place:
    """The folder, what its project says or will say, and whether it says so already."""

    root: Path
    config: Config
    is_project: bool


def plan_init(folder: Path, name: str = "", archs: str = "", overwrite: bool = False) -> InitPlan:
    """Nothing is written. `overwrite` also renews files of ours that are there and differ, never
    those that say how the project is built.
    """
    place = _place(real(folder), name, archs)
    root, config = place.root, place.config
    written = tuple(_files(place, overwrite))
    for path, _, _ in written:
        _refuse_in_the_way(path)
    files = {path: text for path, text, _ in written}
    notes = {path: note for path, _, note in written}
    renamed = () if place.is_project or name else _renamed(root, config.name)
    return InitPlan(root, files, notes, config.name, advice(root, config), renamed)


def _place(root: Path, name: str, archs: str) -> _Place:
    if os.path.exists(root) and not os.path.isdir(root):
        raise UsageError(f"{root} is a file", "name a folder; it is made where there is none")
    if data_root("kernels") in (root, root / "kernels"):
        raise UsageError(f"{root} holds fictl's own kernels", "start in a folder of your own")
    project = Project.of(root)
    if project is not None:
        return _Place(root, _agreed(project, name, archs), is_project=True)
    above = Project.at(root)
    if above.root in root.parents:
        raise UsageError(
            f"{root} lies in the project {above.name} ({above.root})",
            "fictl new-op adds an op to that one; a project of its own lies outside",
        )
    chosen = _name(root, name)
    config = Config(chosen, chosen, archs=archs or Config.archs)
    parse_archs(config.archs)
    if os.path.exists(root / config.kernels / "__init__.py"):
        raise UsageError(
            f"{root / config.kernels} is a Python package already",
            f'write {OWN_FILE} by hand, name = "{config.name}" and kernels = another folder: '
            "then `fictl init` adds the rest",
        )
    return _Place(root, config, is_project=False)


def _agreed(project: Project, name: str, archs: str) -> Config:
    """Configuration of an existing project; a request that contradicts it is refused."""
    for key, asked, current in (("name", name, project.name), ("archs", archs, project.archs)):
        if asked and asked != current:
            raise UsageError(
                f"the project in {project.root} has {key} = {current!r} already, not {asked!r}",
                f"leave --{key} out, or change what its file says",
            )
    kernels, tests = (os.path.relpath(p, project.root) for p in (project.kernels, project.tests))
    return Config(project.name, project.package, kernels, tests, project.archs)


def _name(root: Path, asked: str) -> str:
    """The one that is asked for, else the folder's; `_kernels` is put after one that is taken."""
    name = check_project(asked) if asked else _folder_name(root)
    taken = _taken(root, name)
    if not taken:
        return name
    longer = f"{name}_kernels"
    if asked or _taken(root, longer):
        raise UsageError(f"the name {name!r} is taken: {taken} is a package", f"--name {longer}")
    return longer


def _folder_name(root: Path) -> str:
    try:
        return check_project(snake(root.name) or root.name)
    except UsageError as error:
        raise UsageError(error.message, "say another one: --name my_kernels") from None


def _renamed(root: Path, name: str) -> tuple[Guess, ...]:
    if name == root.name:
        return ()
    why = f"{root.name} is taken" if name == f"{root.name}_kernels" else f"not {root.name}"
    text = f"the package is called {name}, {why}: import {name}; for another name"
    return (Guess((name,), text, "--name NAME"),)


def _taken(root: Path, name: str) -> str:
    """Find a package or a module of that name, in the folder or installed."""
    for folder in (root, root / "src"):
        for place in (folder / name / "__init__.py", folder / f"{name}.py"):
            if os.path.exists(place):
                return str(place)
    spec = find_spec(name)
    # Without an origin it is a bare folder on the path, which hides nothing.
    return (spec.origin or "") if spec else ""


def _files(place: _Place, overwrite: bool) -> Iterator[tuple[Path, str, str]]:
    """Missing files as (path, text, note), and a table in a pyproject.toml."""
    root, config = place.root, place.config
    existing = build_file(root)
    for where, text, note in _texts(config, existing is None, is_packaged(root, config)):
        path = root / where
        if where == OWN_FILE and place.is_project:
            continue
        if where == OWN_FILE and existing == root / SHARED_FILE:
            yield existing, with_table(existing, text), note
        elif not os.path.lexists(path) or (overwrite and where != SHARED_FILE):
            yield path, text, note


def _texts(config: Config, is_new: bool, packaged: bool) -> Iterator[tuple[str, str, str]]:
    """Texts of the template tree, without those that package a project if something else does."""
    tree = data_root("templates") / "project"
    context = {
        "name": config.name,
        "distribution": config.name.replace("_", "-"),
        "archs": config.archs,
        "kernels": config.kernels,
        "tests": config.tests,
        "install": '-e ".[dev]"' if packaged else '"fictl[toolchain]" pytest',
        # A project that is not packaged has no version of its own.
        "wheel_version": "" if packaged else " --version 0.${{ github.run_number }}",
    }
    wanted = [name for name in _NOTES if (is_new and packaged) or name not in _PACKAGING]
    rendered = render({name: tree / name for name in wanted}, context)
    for name, (where, text) in zip(wanted, rendered.items(), strict=True):
        yield where, text, _NOTES[name].format(name=config.name)


def _refuse_in_the_way(path: Path) -> None:
    above = next(folder for folder in path.parents if os.path.lexists(folder))
    if not os.path.isdir(above):
        raise UsageError(
            f"{above} is a file, and {path.name} belongs into a folder of that name",
            "move the file away; nothing was written",
        )
