"""An op as a Solution: its sources, and a main.py that calls them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from fictl.case.definitions import Traced
from fictl.dataset.export import AUTHOR
from fictl.dataset.export.bundle import Bundle, standalone
from fictl.dataset.export.entry import FILE, FUNCTION, Entry
from fictl.errors import UsageError
from fictl.paths import real
from fictl.project import OpFolder, Project
from fictl.project.config import OWN_FILE
from fictl.scaffold.existing.belongings import text_of

if TYPE_CHECKING:
    from fictl.trace import Definition, Solution, SourceFile


def solutions_of(
    traced: Iterable[Traced], names: Iterable[str] = (), author: str = AUTHOR
) -> Iterator[tuple[Definition, Solution]]:
    """Yield a solution for each definition of the functions, or for those in `names`."""
    wanted, known = {*names}, set[str]()
    for one in traced:
        for name, definition in one.definitions().items():
            known.add(name)
            if not wanted or name in wanted:
                yield definition, solution_of(one, definition, author)
    if wanted - known:
        _refuse(min(wanted - known), sorted(known))


def solution_of(traced: Traced, definition: Definition, author: str = AUTHOR) -> Solution:
    """Make a solution that runs its own sources, so that edits in a copy are judged."""
    from fictl.trace import BuildSpec, Solution, SourceFile, SupportedLanguages

    entry = Entry(traced, definition)
    return Solution(
        name=f"{author}_{definition.name}",
        definition=definition.name,
        author=author,
        description=f"{traced.op.api}, from {traced.folder}",
        spec=BuildSpec(
            language=SupportedLanguages.PYTHON,
            target_hardware=("cuda",),
            entry_point=f"{FILE}::{FUNCTION}",
            dependencies=("fictl",),
            destination_passing_style=entry.passes_destinations,
        ),
        sources=(SourceFile(path=FILE, content=entry.text()), *_sources(traced.folder)),
    )


@lru_cache(maxsize=64)
def _sources(folder: OpFolder) -> tuple[SourceFile, ...]:
    """The sources by path in the solution, in which they form a separate project."""
    from fictl.trace import SourceFile

    project = folder.project
    kernels = real(project.kernels)
    placed = {
        f"kernels/{path.relative_to(kernels).as_posix()}": standalone(path, text_of(path), folder)
        for path in Bundle(folder).files
    }
    # The format does not allow empty files.
    there = {path: text for path, text in sorted(placed.items()) if text}
    files = {OWN_FILE: _config(project), **there}
    return tuple(SourceFile(path=path, content=text) for path, text in files.items())


def _config(project: Project) -> str:
    """Project file with a new name, so that both projects can be read side by side."""
    return f'name = "solution_of_{project.name}"\narchs = "{project.archs}"\n'


def _refuse(name: str, known: list[str]) -> None:
    from difflib import get_close_matches

    close = get_close_matches(name, known, n=1)
    raise UsageError(
        f"no definition of it is called {name!r}",
        f"did you mean {close[0]!r}? " if close else f"it has {', '.join(known[:5])}, …",
    )
