"""Repairs files of results: an incomplete last line, left by a crash, is moved aside and
reported.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fictl.trace.documents.reading import NotReadable

ASIDE = ".torn"


def told(unreadable: Iterable[NotReadable], *, mend: bool) -> tuple[str, ...]:
    """Describe each broken line. With `mend`, an unfinished last line is moved to another file."""
    from fictl.trace.dataset.lines_file import cut_unfinished

    errors = [*unreadable]
    paths = dict.fromkeys(error.problems[0].path for error in errors)
    cut = {path for path in paths if mend and cut_unfinished(path, _aside(path), _is_broken)}
    last = {path: max(e.problems[0].line for e in errors if _path(e) == path) for path in cut}
    return tuple(_sentence(error, last) for error in errors)


def _sentence(error: NotReadable, last: dict[Path, int]) -> str:
    """Describe one broken line; `last` has the numbers of incomplete last lines."""
    problem = error.problems[0]
    was_cut = last.get(problem.path) == problem.line
    kept = f"; it is in {_aside(problem.path).name} now" if was_cut else ""
    return f"{problem}: not counted, its workload is run again{kept}"


def _is_broken(line: bytes) -> bool:
    from fictl.trace.dataset.record_lines import parse_trace
    from fictl.trace.documents.reading import NotReadable

    try:
        parse_trace(line, Path(), 0)
    except NotReadable:
        return True
    return False


def _path(error: NotReadable) -> Path:
    return error.problems[0].path


def _aside(path: Path) -> Path:
    """Path with a name that no reader of datasets looks for."""
    return path.with_name(f".{path.name}{ASIDE}")
