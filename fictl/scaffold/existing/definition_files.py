"""Definition files that a project keeps beside its tests, in folders named after functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from fictl.paths import matching
from fictl.project import Project


def definition_files(project: Project, functions: Iterable[str]) -> Iterator[Path]:
    """Those that `fictl trace check --update` wrote."""
    roots = dict.fromkeys((project.tests, project.tests.parent))
    for folder in (root / "trace" / "definitions" for root in roots):
        for name in functions:
            yield from matching(folder / name, "*.json")
